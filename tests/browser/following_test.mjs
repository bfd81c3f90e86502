import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';
import { greet, slow } from './recipes.mjs';
import { button, connection, dialog, logLine, row, shows, title, wholeLog } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

/** A run of \`slow\` that has printed its early lines. */
async function started(user, recipe = slow) {
  user.write('slow.yaml', recipe);
  const runner = user.start(['run', 'slow.yaml', '-q']);
  const run = await user.newest();
  await until('the early lines', () => user.read('log').endsWith('early 3000\n'));
  return { runner, run };
}

test('a live log has the lines from before it was opened, and those that follow', async ({ user, open }) => {
  const { runner, run } = await started(user);
  const page = await open(`/run/${run}/step/wait`);
  await logLine(page, 'early 3000');
  user.write('go', '');
  await logLine(page, 'late 3000');
  assert.equal(await runner.ended, 0);
  assert.equal(await wholeLog(page), user.read('log'));
});

test('a run whose process is killed is interrupted, and the button resumes it to its end', async ({ user, open }) => {
  const { runner, run } = await started(user);
  const page = await open(`/run/${run}`);
  await shows(page, 'running');
  runner.kill();
  await shows(page, 'interrupted');
  await shows(page, `towpath resume ${run}`);
  user.write('go', '');
  // The warden of the killed process ends what it left before the run can be resumed.
  await until('nothing owns the run', async () => (await user.show(run)).status === 'interrupted');
  await button(page, 'Resume').click();
  await title(page, /^done/);
  await user.status(run, 'done');
});

test('after the server was killed and started again the page has every line', async ({ user, server, open }) => {
  const { runner, run } = await started(user, slow.replace('; } | tee', '; until [ -e end ]; do sleep 0.02; done; echo over; } | tee'));
  const page = await open(`/run/${run}/step/wait`);
  await logLine(page, 'early 3000');
  server.kill();
  await server.ended;
  await connection(page, /^reconnecting since/);
  // While nothing serves the page the step prints more, and it is still running afterwards.
  user.write('go', '');
  await until('the late lines', () => user.read('log').endsWith('late 3000\n'));
  const next = await user.serve();
  assert.equal(next.address, server.address);
  await connection(page, /^live$/);
  await logLine(page, 'late 3000');
  assert.equal(await wholeLog(page), user.read('log'));
  user.write('end', '');
  assert.equal(await runner.ended, 0);
  await logLine(page, 'over');
  assert.equal(await wholeLog(page), user.read('log'));
}, { allowed: [/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/] });

// It gives a wrong proof, or none, as if it need not.
for (const [how, answers] of [
  ['with a wrong proof', [{ kind: 'proof', proof: 'guessed' }]],
  ['without a proof', [{ kind: 'hello', seq: 1 }, { kind: 'reset', seq: 2 }]],
]) test(`another program that listens at the address gets no token ${how}`, async ({ server, open }) => {
  const page = await open('/');
  await connection(page, /^live$/);
  server.kill();
  await server.ended;
  await connection(page, /^reconnecting since/);
  // It answers as a server of sockets does, and keeps what it is sent.
  const sent = [];
  const other = http.createServer((request, response) => {
    sent.push(JSON.stringify(request.headers));
    response.end('{}');
  });
  const sockets = [];
  other.on('upgrade', ({ headers }, socket) => {
    const accept = crypto.createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    sockets.push(socket);
    socket.on('data', (frame) => {
      const [mask, text] = [frame.subarray(2, 6), frame.subarray(6)];
      sent.push(text.map((byte, at) => byte ^ mask[at % 4]).toString());
      for (const answer of answers.map((each) => JSON.stringify(each))) {
        socket.write(Buffer.concat([Buffer.from([0x81, answer.length]), Buffer.from(answer)]));
      }
    });
  });
  await new Promise((resolve) => other.listen(new URL(server.origin).port, '127.0.0.1', resolve));
  await connection(page, /^refused/);
  other.close();
  sockets.forEach((socket) => socket.destroy());
  assert.match(sent.join(), /nonce/);
  assert.ok(!sent.join().includes(server.token), sent.join());
}, { allowed: [/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/] });

test('a run is cancelled by its button', async ({ user, open }) => {
  const { runner, run } = await started(user);
  const page = await open(`/run/${run}`);
  await button(page, 'Cancel the run').click();
  await dialog(page).getByRole('button', { name: 'Cancel the run' }).click();
  await shows(page, 'it was cancelled');
  await runner.ended;
  await user.status(run, 'cancelled');
});

test('a secret stays masked on every screen', async ({ user, open }) => {
  const secret = 'Tr0ub4dor-and-three';
  user.write('leak.yaml', 'name: leak\nsteps:\n  - id: a\n    command: echo "the word is $TOKEN"; echo "err $TOKEN" >&2; until [ -e go ]; do sleep 0.02; done; exit 4\n');
  const runner = user.start(['run', 'leak.yaml', '-q', '--secret', 'TOKEN'], { TOKEN: secret });
  const run = await user.newest();
  const page = await open(`/run/${run}/step/a`);
  const answers = [];
  page.on('response', async (response) => answers.push(await response.text().catch(() => '')));
  await logLine(page, 'the word is');
  assert.ok(!(await page.content()).includes(secret));
  user.write('go', '');
  await runner.ended;
  await page.reload();
  await logLine(page, 'the word is');
  for (const at of [`/run/${run}`, '/']) {
    await page.goto(new URL(at, page.url()).href);
    await shows(page, 'leak');
    assert.ok(!(await page.content()).includes(secret));
  }
  assert.ok(answers.length > 3);
  assert.ok(!answers.join('').includes(secret));
});

test('a server that is silent is lost, though nothing was closed', async ({ user, server, open }) => {
  const page = await open('/');
  await connection(page, /^live$/);
  await page.clock.install();
  // The timer of the last message is a real one: a message after the clock was installed starts one that can be moved.
  user.write('slow.yaml', slow);
  user.start(['run', 'slow.yaml', '-q']);
  const run = await user.newest();
  await page.clock.runFor(1000);
  await row(page, run).waitFor();
  process.kill(server.pid, 'SIGSTOP');
  try {
    await page.clock.runFor(26_000);
    await connection(page, /^reconnecting since/);
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
  await until('it is live again', async () => {
    await page.clock.runFor(2_000);
    return /^live$/.test(await page.locator('#connection').textContent());
  });
});

test('what is selected in a log that grows stays selected', async ({ user, open }) => {
  user.write('slow.yaml', 'name: slow\nsteps:\n  - id: wait\n    command: "echo the error; until [ -e more ]; do sleep 0.02; done; echo more lines; until [ -e go ]; do sleep 0.02; done"\n');
  const runner = user.start(['run', 'slow.yaml', '-q']);
  const page = await open(`/run/${await user.newest()}/step/wait`);
  await logLine(page, 'the error');
  const log = page.getByRole('log', { name: 'stdout' });
  await log.evaluate((node) => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    getSelection().selectAllChildren(node);
    getSelection().setBaseAndExtent(walker.nextNode(), 0, walker.currentNode, 9);
  });
  user.write('more', '');
  await logLine(page, 'more lines');
  assert.equal(await page.evaluate(() => String(getSelection())), 'the error');
  user.write('go', '');
  assert.equal(await runner.ended, 0);
});

test('a click is not lost when the page changes while the button is pressed', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const first = await user.newest();
  const page = await open('/');
  const link = row(page, first).getByRole('link');
  const { x, y, width, height } = await link.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  // A new run moves every row down: the pointer would be above another one.
  await user.towpath(['run', 'greet.yaml', '-q']);
  const second = await user.newest(first);
  await page.waitForResponse(/api\/v1\/runs\?/).catch(() => {});
  assert.equal(await row(page, second).count(), 0, 'nothing is drawn while the button is pressed');
  await page.mouse.up();
  await page.waitForURL(`**/run/${first}`);
});
