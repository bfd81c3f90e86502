import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { accessibility } from './browser.mjs';
import { button, card, logLine, searchCount, shows, wholeLog } from './screens.mjs';
import { until } from './user.mjs';
import { test } from './test.mjs';

/** A run whose called recipe failed once, and was resumed to its end. */
async function resumed(user) {
  user.write('outer.yaml', 'name: outer\nsteps:\n  - id: build\n    command: echo built\n  - id: check\n    recipe: ./inner.yaml\n');
  user.write('inner.yaml', 'name: inner\nsteps:\n  - id: unit\n    command: echo unit is fine\n  - id: smoke\n    command: "if [ -e fixed ]; then echo it is well; else echo it is broken; exit 3; fi"\n');
  await user.towpath(['run', 'outer.yaml', '-q'], { exits: 1 });
  const run = await user.newest();
  user.write('fixed', '');
  await user.towpath(['resume', run, '-q']);
  return run;
}

test('a called recipe opens beside its step, by keyboard too', async ({ user, open }) => {
  const run = await resumed(user);
  const page = await open(`/run/${run}`);
  await card(page, 'check: completed').waitFor();
  assert.equal(await card(page, 'check/smoke: completed').count(), 0);
  await page.getByRole('button', { name: /the recipe that check calls/i }).focus();
  await page.keyboard.press('Enter');
  await card(page, 'check/smoke: completed').waitFor();
  await page.keyboard.press('Enter');
  await card(page, 'check/smoke: completed').waitFor({ state: 'detached' });
});

test('every attempt of a step can be read', async ({ user, open }) => {
  const run = await resumed(user);
  const page = await open(`/run/${run}/step/check/smoke`);
  await logLine(page, 'it is well');
  const attempts = page.getByRole('navigation', { name: 'Attempts' }).getByRole('link');
  assert.equal(await attempts.count(), 2);
  await attempts.first().click();
  await logLine(page, 'it is broken');
  assert.equal(await page.getByText('it is well').filter({ visible: true }).count(), 0);
});

test('the first error of a long output is a click away', async ({ user, open }) => {
  user.write('long.yaml', 'name: long\nsteps:\n  - id: print\n    command: |\n      seq 1 60000; echo "TypeError: x is undefined"; seq 1 60000; echo "0 failed"; exit 2\n');
  await user.towpath(['run', 'long.yaml', '-q'], { exits: 1 });
  const page = await open(`/run/${await user.newest()}/step/print`);
  await logLine(page, '0 failed');
  await button(page, 'First error').click();
  await logLine(page, 'TypeError: x is undefined');
  assert.equal(await page.locator('log-view .found').first().textContent(), '1 of 1, line 60,001');
  await until('the line can be seen', () => page.getByRole('log', { name: 'stdout' }).evaluate((log) => {
    const [outer, inner] = [log, log.querySelector('.target')].map((node) => node.getBoundingClientRect());
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
  }));
});

test('what hooks print does not hide what their step printed', async ({ user, open }) => {
  user.write('hooks.yaml', 'name: hooks\nhooks:\n  pre_step: echo before\n  on_error: echo reported\nsteps:\n  - id: bad\n    command: echo the real failure >&2; exit 3\n');
  await user.towpath(['run', 'hooks.yaml', '-q'], { exits: 1 });
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  await logLine(page, 'the real failure', 'stderr');
  await page.goto(new URL(`/run/${run}/step/bad`, page.url()).href);
  await logLine(page, 'the real failure', 'stderr');
  await page.getByRole('navigation', { name: 'Attempts' }).getByRole('link', { name: 'on_error' }).click();
  await logLine(page, 'reported');
});

test('a step that was run again shows what it printed before', async ({ user, open }) => {
  user.write('twice.yaml', 'name: twice\nsteps:\n  - id: a\n    command: "if [ -e more ]; then echo second; else echo first; touch more; fi"\n');
  await user.towpath(['run', 'twice.yaml', '-q']);
  const run = await user.newest();
  await user.towpath(['resume', run, '--again', 'a', '-q']);
  const page = await open(`/run/${run}/step/a`);
  await logLine(page, 'second');
  await page.getByRole('navigation', { name: 'Attempts' }).getByRole('link', { name: /visit 1/ }).click();
  await logLine(page, 'first');
});

test('each restart of a state machine is a part of its steps', async ({ user, open }) => {
  const reports = (outcome) => `${JSON.stringify(`\`\`\`json\n${JSON.stringify({ outcome })}\n\`\`\``)}\n`;
  user.write('answers.jsonl', ['complete', 'no-issues', 'committed', 'no-tasks'].map(reports).join(''));
  await user.towpath(['run', 'implement-and-review-all', '-q', '--script', 'answers.jsonl']);
  const page = await open(`/run/${await user.newest()}`);
  const rows = page.getByRole('region', { name: 'Steps' }).getByRole('row');
  await rows.filter({ hasText: 'Restart 1' }).waitFor();
  const names = (await rows.allTextContents()).map((text) => /Restart 1|implement#2|implement|commit/.exec(text)?.[0]).filter(Boolean);
  assert.deepEqual(names, ['implement', 'commit', 'Restart 1', 'implement#2']);
});

test('a download has every byte of an output', async ({ user, open }) => {
  user.write('long.yaml', 'name: long\nsteps:\n  - id: print\n    command: seq 1 300000 | tee log\n');
  await user.towpath(['run', 'long.yaml', '-q']);
  const page = await open(`/run/${await user.newest()}/step/print`);
  await logLine(page, '300000');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
  assert.equal(fs.readFileSync(await download.path(), 'utf8'), user.read('log'));
});

test('an exported run opens without a server', async ({ user, server, open }) => {
  const run = await resumed(user);
  user.write('run.html', await user.towpath(['show', run, '--html']));
  server.kill();
  await server.ended;
  const file = pathToFileURL(path.join(user.work, 'run.html')).href;
  const page = await open('', { server: { origin: file }, token: false });
  await shows(page, 'it is well');
  assert.deepEqual(await accessibility(page), []);
});

test('a log is what a terminal shows in the end', async ({ user, open }) => {
  user.write('bars.yaml', `name: bars
steps:
  - id: print
    command: |
      for n in $(seq 1 50); do printf '\\r%3d %% of it' $n; done; echo
      for n in 1 2 3; do printf '\\033[2K\\033[1Gspinner %d' $n; done; echo
      printf 'first: wait\\nsecond: wait\\n'
      printf '\\033[2A\\033[32mfirst: done\\033[0m\\033[K\\nsecond: done\\033[K\\n'
      printf 'windows\\r\\nend\\n'
`);
  await user.towpath(['run', 'bars.yaml', '-q']);
  const page = await open(`/run/${await user.newest()}/step/print`);
  await logLine(page, 'windows');
  assert.equal(await wholeLog(page), ' 50 % of it\nspinner 3\nfirst: done\nsecond: done\nwindows\nend\n');
  assert.equal((await page.locator('.ansi-green').textContent()).trim(), 'first: done');
});

test('a long line before the end can be scrolled to', async ({ user, open }) => {
  user.write('long.yaml', 'name: long\nsteps:\n  - id: print\n    command: "head -c 5000000 /dev/zero | tr \'\\\\0\' x; echo; echo after the line"\n');
  await user.towpath(['run', 'long.yaml', '-q']);
  const page = await open(`/run/${await user.newest()}/step/print`);
  await logLine(page, 'after the line');
  const log = page.getByRole('log', { name: 'stdout' });
  await until('the line is above', () => log.evaluate((node) => node.scrollHeight > node.clientHeight + 100 && node.textContent.startsWith('xxx')));
});

test('every match can be reached', async ({ user, open }) => {
  user.write('many.yaml', 'name: many\nsteps:\n  - id: print\n    command: seq -f "user=%g" 1 2180\n');
  await user.towpath(['run', 'many.yaml', '-q']);
  const page = await open(`/run/${await user.newest()}/step/print`);
  await logLine(page, 'user=2180');
  assert.equal(await searchCount(page, 'USER='), 2180);
  const found = page.locator('log-view .found').first();
  await button(page, 'Previous match').click();
  await until('the last', async () => (await found.textContent()) === '2,180 of 2,180, line 2,180');
  await page.locator('.target-line', { hasText: 'user=2180' }).waitFor();
  await button(page, 'Next match').click();
  await until('the first', async () => (await found.textContent()) === '1 of 2,180, line 1');
});

test('every visit of a state machine is a row, and only steps at the same time are folded', async ({ user, open }) => {
  const steps = Array.from({ length: 10 }, (_, n) => `  - id: s${n}\n    parallel_group: all\n    command: echo ${n}\n`);
  user.write('wide.yaml', `name: wide\nsteps:\n  - id: list\n    command: echo all\n${steps.join('')}  - id: report\n    command: echo end\n`);
  await user.towpath(['run', 'wide.yaml', '-q']);
  const names = async (page) => (await page.getByRole('region', { name: 'Steps' }).locator('tbody th').allTextContents()).map((name) => name.trim());
  const wide = await open(`/run/${await user.newest()}`);
  await wide.getByRole('link', { name: 'Show each' }).waitFor();
  assert.deepEqual(await names(wide), ['list', 's0 … s9', 'report']);
  user.write('turns.yaml', 'name: turns\ncontext: { n: 0 }\nsteps:\n' + Array.from({ length: 12 }, (_, n) => `  - id: t${n}\n    command: echo ${n}\n`).join(''));
  await user.towpath(['run', 'turns.yaml', '-q']);
  const turns = await open(`/run/${await user.newest()}`);
  await turns.getByRole('row').filter({ hasText: 't11' }).waitFor();
  assert.equal((await names(turns)).length, 12);
});
