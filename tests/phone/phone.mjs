// A user with a server and a key, and a client of the npm package `ws`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const require = createRequire(`${process.env.TOWPATH_PHONE_PACKAGES}/`);
const WebSocket = require('ws');

// What hangs is found out; a busy machine needs a part of it.
const HANGS = 60_000;

export class User {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'towpath-phone-'));
    this.directory = join(this.home, 'work');
    mkdirSync(this.directory);
  }

  write(name, text) {
    writeFileSync(join(this.directory, name), text);
  }

  read(name) {
    try {
      return readFileSync(join(this.directory, name), 'utf8');
    } catch {
      return '';
    }
  }

  // The answers of the scripted agent: an outcome, or a line as it is.
  answers(...lines) {
    const line = (one) => JSON.stringify(typeof one === 'string' ? reporting(one) : one);
    this.write('answers.jsonl', lines.map((one) => `${line(one)}\n`).join(''));
  }

  async serve() {
    const environment = { ...process.env, HOME: this.home, TOWPATH_HOME: join(this.home, 'home') };
    const flags = ['ui', '--phone', '--no-open', '--script', 'answers.jsonl'];
    const options = { cwd: this.directory, env: environment, stdio: ['ignore', 'pipe', 'ignore'] };
    this.server = spawn(process.env.TOWPATH_PROGRAM, flags, options);
    for await (const line of createInterface(this.server.stdout)) {
      const found = line.match(/^phone: (\S+) key: (\S+)$/);
      if (found) {
        [, this.address, this.key] = found;
        return;
      }
    }
    throw new Error('the server printed no key');
  }

  async end() {
    if (this.server && this.server.exitCode === null) {
      const exited = once(this.server, 'exit');
      this.server.kill();
      await exited;
    }
    rmSync(this.home, { recursive: true, force: true });
  }
}

export function reporting(outcome) {
  return `Worked.\n\n{"outcome": "${outcome}"}`;
}

// An agent that works until the file `go` is there.
export function waiting(outcome) {
  const run = 'echo $$ > pid; until [ -e go ]; do sleep 0.02; done';
  return { run, text: reporting(outcome) };
}

export class Phone {
  static async open(user, path = '') {
    const phone = new Phone();
    phone.user = user;
    phone.received = [];
    phone.waiters = [];
    phone.socket = new WebSocket(user.address + path);
    phone.socket.on('message', (data) => phone.take(JSON.parse(data.toString())));
    phone.socket.on('close', (code) => phone.take({ closed: code }));
    await phone.until('hello');
    return phone;
  }

  static async connect(user, path = '/ws') {
    const phone = await Phone.open(user, path);
    phone.send({ type: 'connect', api_key: user.key, protocol_version: '0.5.0' });
    await phone.until('available_commands');
    return phone;
  }

  take(message) {
    this.received.push(message);
    this.waiters.shift()?.();
  }

  send(message) {
    this.socket.send(JSON.stringify(message));
  }

  start(session_id, recipe_id) {
    const working_directory = this.user.directory;
    this.send({ type: 'start_recipe', session_id, recipe_id, working_directory });
  }

  async next() {
    if (this.received.length === 0) {
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('the server sends nothing')), HANGS);
      });
      const came = new Promise((resolve) => this.waiters.push(resolve));
      await Promise.race([came, late]).finally(() => clearTimeout(timer));
    }
    return this.received.shift();
  }

  // Everything up to a message of this type.
  async until(type) {
    const messages = [];
    for (;;) {
      const message = await this.next();
      messages.push(message);
      if (message.type === type) return messages;
      if (message.closed !== undefined) throw new Error(`closed: ${JSON.stringify(messages)}`);
    }
  }

  close() {
    this.socket.close();
  }
}

export async function eventually(what, so) {
  const until = Date.now() + HANGS;
  while (!so()) {
    if (Date.now() > until) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function lives(pid) {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
