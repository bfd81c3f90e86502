import assert from 'node:assert/strict';
import { card, logLine, searchCount, toEnd } from './screens.mjs';
import { test } from './test.mjs';

test('a log of 100,000 lines is scrolled to its end and searched', async ({ user, open }) => {
  user.write('long.yaml', 'name: long\nsteps:\n  - id: print\n    command: seq -f "line %06.0f of the log" 1 100000\n');
  await user.towpath(['run', 'long.yaml', '-q']);
  const run = await user.newest();
  const page = await open(`/run/${run}/step/print`);
  await logLine(page, 'line 100000 of the log');
  await toEnd(page, 'Start');
  await logLine(page, 'line 000001 of the log');
  await toEnd(page);
  await logLine(page, 'line 100000 of the log');
  assert.equal(await searchCount(page, '00 of the log'), 1000);
  await logLine(page, 'line 000100 of the log');
  assert.equal(await searchCount(page, 'OF THE LOG'), 100_000);
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 20_000, 'only what can be seen is drawn');
});

test('200 steps at the same time are one card with their count, and each can be shown', async ({ user, open }) => {
  const steps = Array.from({ length: 200 }, (_, n) => `  - id: s${n}\n    parallel_group: all\n    command: ': < go'\n`);
  user.write('wide.yaml', `name: wide\nrecursion:\n  max_total_steps: 300\nsteps:\n${steps.join('')}  - id: last\n    command: echo last\n`);
  const gate = user.gate('go');
  const runner = user.start(['run', 'wide.yaml', '-q']);
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  await card(page, '200 steps: 200 running').waitFor();
  assert.equal(await card(page, /./).count(), 2);
  gate.open();
  assert.equal(await runner.ended, 0);
  await card(page, '200 steps: 200 completed').waitFor();
  await page.getByRole('link', { name: 'Show each' }).click();
  await page.getByRole('link', { name: 's199', exact: true }).first().waitFor();
  assert.equal(await page.getByRole('row').filter({ hasText: 'completed' }).count(), 201);
});
