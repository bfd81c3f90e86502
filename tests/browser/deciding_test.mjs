import assert from 'node:assert/strict';
import { agent, asking, limited } from './recipes.mjs';
import { button, dialog, shows, title } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

test('a question is answered: it is done, with its output', async ({ user, open }) => {
  const run = await asking(user);
  const page = await open('/questions');
  await shows(page, `towpath resume ${run} --done pay`);
  const icon = (part) => until(`the icon ${part}`, async () => (await page.locator('link[rel=icon]').getAttribute('href')).includes(part));
  await icon('a371f7');
  await title(page, /1 waiting/);
  await button(page, 'Continue after it').click();
  await dialog(page).getByLabel(/output/i).fill('by hand');
  await dialog(page).getByRole('button', { name: 'Continue after it' }).click();
  await user.status(run, 'done');
  assert.equal(user.read('shipped'), 'shipped by hand\n');
  assert.equal(user.read('paid'), 'paid\n');
  await page.getByText('--done pay').waitFor({ state: 'hidden' });
  await icon('/icon.svg');
});

test('a step that may run once runs again only after its name was typed', async ({ user, open }) => {
  const run = await asking(user);
  const page = await open(`/run/${run}`);
  await shows(page, `towpath resume ${run} --again pay`);
  user.write('go', '');
  await button(page, 'Run it again').click();
  const typed = dialog(page).getByRole('textbox');
  const confirm = dialog(page).getByRole('button', { name: 'Run it again' });
  assert.ok(await confirm.isDisabled(), 'nothing is typed yet');
  await typed.fill('pya');
  assert.ok(await confirm.isDisabled(), 'another name confirms nothing');
  await typed.fill('pay');
  await confirm.click();
  await user.status(run, 'done');
  assert.equal(user.read('paid'), 'paid\npaid\n');
});

test('a question about a step of a state machine is answered with its outcome', async ({ user, open }) => {
  user.write('release.yaml', `
id: release
label: Release
description: Publishes once
initialStep: publish
guardrails: {}
steps:
  publish:
    command: echo published >> published; until [ -e go ]; do sleep 0.02; done
    effect: once
    outcomes: [success, failure]
    onOutcome: { success: { action: exit, reason: released }, failure: { action: exit, reason: not-released } }
`);
  const runner = user.start(['run', 'release.yaml', '-q']);
  const run = await user.newest();
  await until('it is published', () => user.exists('published'));
  runner.kill();
  const page = await open('/questions');
  await shows(page, `towpath resume ${run} --done publish`);
  await button(page, 'Continue after it').click();
  await dialog(page).getByLabel('Its outcome').selectOption('failure');
  await dialog(page).getByRole('button', { name: 'Continue after it' }).click();
  await user.status(run, 'done');
  assert.equal((await user.show(run)).machine.reason, 'not-released');
  assert.equal(user.read('published'), 'published\n');
});

test('a recipe that is not trusted is among the questions', async ({ user, open }) => {
  user.write('.towpath/recipes/ci.yaml', 'name: ci\nsteps:\n  - id: build\n    command: echo built > built\n');
  const page = await open('/questions');
  await page.getByRole('link', { name: 'ci' }).click();
  await page.waitForURL('**/start/ci');
  await shows(page, 'Not trusted yet');
});

test('a run that waits for a rate limit is not continued', async ({ user, open }) => {
  user.write('agent.yaml', agent);
  user.write('answers.jsonl', `"one"\n${limited()}`);
  await user.towpath(['run', 'agent.yaml', '-q', '--script', 'answers.jsonl'], { exits: 75 });
  const run = await user.newest();
  const page = await open('/questions');
  await shows(page, 'a rate limit of the agent ends at');
  await button(page, 'Do not continue').click();
  await dialog(page).getByRole('button', { name: 'Do not continue' }).click();
  await user.status(run, 'cancelled');
  await page.getByText('a rate limit of the agent ends at').waitFor({ state: 'hidden' });
});

test('a recipe of the project runs after it was trusted with what it would run', async ({ user, open }) => {
  user.write('.towpath/recipes/ci.yaml', 'name: ci\nsteps:\n  - id: build\n    command: echo built > built\n');
  const page = await open('/start/ci');
  await shows(page, 'echo built > built');
  await button(page, /^trust/i).click();
  await dialog(page).getByRole('button', { name: /^trust/i }).click();
  await until('it is trusted', async () => (await user.json(['explain', 'ci', '--json'])).trusted);
  assert.ok(!user.exists('built'));
  await button(page, /^start/i).click();
  await until('it ran', () => user.exists('built'));
  const run = await user.newest();
  await user.status(run, 'done');
});

test('a run that continues by itself is no question', async ({ user, open }) => {
  user.write('agent.yaml', agent);
  user.write('answers.jsonl', `"one"\n${limited()}`);
  user.start(['run', 'agent.yaml', '-q', '--wait', '--script', 'answers.jsonl']);
  const run = await user.newest();
  await user.status(run, 'waiting');
  const page = await open(`/run/${run}`);
  await shows(page, 'it continues by itself');
  await button(page, 'Do not continue').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0);
  await page.goto(new URL('/questions', page.url()).href);
  await shows(page, 'No run waits for a decision.');
});
