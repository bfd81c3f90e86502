// A user at a terminal: a directory of their own, a home of their own, files, commands, a server of the page.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const program = process.env.TOWPATH_PROGRAM;
/** For what hangs: a busy machine needs a part of it. */
export const HANGS = 60_000;
/** So much is kept of what a command prints. */
const MOST = 16e6;

/** What is still running ends with this process, however that ends. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

export class User {
  constructor(base = os.tmpdir()) {
    this.directory = fs.mkdtempSync(path.join(base, 'towpath-page-'));
    this.work = path.join(this.directory, 'work');
    this.children = [];
    this.gates = [];
    fs.mkdirSync(this.work);
  }

  write(name, text) {
    const file = path.join(this.work, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }

  read(name) {
    return this.exists(name) ? fs.readFileSync(path.join(this.work, name), 'utf8') : '';
  }

  exists(name) {
    return fs.existsSync(path.join(this.work, name));
  }

  /** A gate: whoever runs `: < name` waits, without work, until it is opened; it stays open for those who come later. */
  gate(name) {
    const file = path.join(this.work, name);
    execFileSync('mkfifo', [file]);
    return { open: () => this.gates.push(fs.openSync(file, 'r+')) };
  }

  /** Starts a command; it has `pid`, `ended` (a promise of its exit code), `stdout` and `stderr` so far. */
  start(words, more = {}) {
    const env = { ...process.env, ...more, TOWPATH_HOME: path.join(this.directory, 'home'), HOME: this.directory, IS_SANDBOX: '1' };
    for (const name of ['CI', 'CLAUDECODE', 'TOWPATH_PROGRAM']) delete env[name];
    const child = spawn(program, words, { cwd: this.work, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const started = { pid: child.pid, stdout: '', stderr: '', over: false, kill: (signal = 'SIGKILL') => child.kill(signal) };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].on('data', (bytes) => { if (started[stream].length < MOST) started[stream] += bytes; });
    }
    started.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', () => running.delete(child));
      child.on('close', (code) => { started.over = true; resolve(code); });
    });
    running.add(child);
    this.children.push(started);
    return started;
  }

  /** Runs a command to its end, which must be this exit code. */
  async towpath(words, { exits = 0, env = {} } = {}) {
    const started = this.start(words, env);
    const code = await started.ended;
    if (exits !== null && code !== exits) {
      throw new Error(`towpath ${words.join(' ')}: exit code ${code}\n${started.stdout}\n${started.stderr}`);
    }
    return started.stdout;
  }

  async json(words) {
    return JSON.parse(await this.towpath(words, { exits: null }));
  }

  /** The newest run, once there is one that is not among these. */
  async newest(...known) {
    return until('a run', async () => {
      const { runs } = await this.json(['runs', '--all', '--json']);
      return runs.map((run) => run.run_id).find((id) => !known.includes(id));
    });
  }

  async show(run) {
    return this.json(['show', run, '--json']);
  }

  async status(run, wanted) {
    await until(`run ${run} is ${wanted}`, async () => (await this.show(run)).status === wanted);
  }

  /** Starts the server of the page. */
  async serve(...more) {
    const server = this.start(['ui', '--no-open', ...more]);
    await until('the address of the page', () => {
      if (server.over) throw new Error(`the server ended: ${server.stderr}`);
      return server.stdout.includes('\n');
    });
    server.address = server.stdout.split('\n')[0];
    [server.origin, server.token] = server.address.split('/#t=');
    return server;
  }

  /** The file into which a running job prints. */
  output(run, name) {
    return path.join(this.directory, 'home/state/runs', run, name);
  }

  /** Ends what is left of what was started here, by its process id, and removes the directory. */
  async close() {
    const { runs = [] } = await this.json(['runs', '--all', '--json']).catch(() => ({}));
    for (const run of runs) {
      if (run.status === 'running') await this.towpath(['cancel', run.run_id], { exits: null });
    }
    for (const child of this.children) {
      if (!child.over) child.kill();
      await child.ended.catch(() => {});
    }
    this.gates.forEach((gate) => fs.closeSync(gate));
    fs.rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Waits until something is so, and returns it. */
export async function until(what, so) {
  const end = Date.now() + HANGS;
  for (;;) {
    const value = await so();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
