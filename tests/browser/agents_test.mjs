import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { button, shows, title } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

const says = (...content) => JSON.stringify({ type: 'assistant', message: { content } });
const text = (words) => ({ type: 'text', text: words });
const uses = (name, input) => ({ type: 'tool_use', name, input });

const answer = '# What I did\n\nThe **total** is `a + b` now.\n\n| file | lines |\n|---|---|\n| main.rs | 1 |\n\n```rust\nlet x = "<b>";\n```\n\n- one\n- [two](http://example.com/x)\n\n<script>document.title = "owned"</script>';

/** A program that prints as Claude Code does, and waits for the file `go` before its answer. */
function agentProgram(user) {
  const lines = [
    JSON.stringify({ type: 'system', subtype: 'init', session_id: 's-1', model: 'claude-sonnet-4-5' }),
    says(text('I will look at the changes first.')),
    says(uses('Bash', { command: 'git diff HEAD' })),
    says(uses('Edit', { file_path: path.join(user.work, 'main.rs'), old_string: 'fn a() {\n  1\n}', new_string: 'fn a() {\n  2\n}' })),
    says(text('TypeError: it was wrong')),
    says(uses('Bash', { command: 'cargo test\necho second line' })),
  ];
  const end = [says(text(answer)), JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: answer, session_id: 's-1' })];
  user.write('first.jsonl', `${lines.join('\n')}\n`);
  user.write('end.jsonl', `${end.join('\n')}\n`);
  user.write('claude', '#!/bin/sh\ncat > /dev/null\ncat first.jsonl\necho 2 > main.rs\nuntil [ -e go ]; do sleep 0.02; done\ncat end.jsonl\n');
  fs.chmodSync(path.join(user.work, 'claude'), 0o755);
  user.write('fix.yaml', 'name: fix\nsteps:\n  - {id: fix, prompt: "Fix it"}\n');
  return user.start(['run', 'fix.yaml', '-q', '--backend', 'claude-code'], { CLAUDE_CLI_PATH: path.join(user.work, 'claude') });
}

const transcript = (page) => page.getByRole('log', { name: 'Agent' });

test('what an agent does is read, and not the JSON of its program, live and afterwards', async ({ user, open }) => {
  const runner = agentProgram(user);
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  const log = transcript(page);
  await log.getByText('I will look at the changes first.').waitFor();
  await log.getByText('cargo test', { exact: true }).waitFor();
  await until('the sentence names the last tool', async () => /fix is running: Bash cargo test/.test(await page.locator('.why').textContent()));
  assert.doesNotMatch(await log.textContent(), /"type"/);
  await page.getByRole('switch', { name: 'Raw' }).check();
  await page.getByRole('log', { name: 'stdout' }).getByText('"subtype"').first().waitFor();
  await page.getByRole('switch', { name: 'Raw' }).uncheck();
  user.write('go', '');
  assert.equal(await runner.ended, 0);
  await title(page, /^done/);
  await page.goto(new URL(`/run/${run}/step/fix`, page.url()).href);
  await log.getByRole('heading', { name: 'What I did' }).waitFor();
  await log.getByRole('cell', { name: 'main.rs' }).waitFor();
  assert.equal(await log.locator('pre', { hasText: 'let x' }).textContent(), 'let x = "<b>";');
  assert.equal(await log.locator('strong', { hasText: 'total' }).count(), 1);
  assert.equal(await log.getByRole('link').count(), 0);
  assert.match(await log.textContent(), /<script>document.title/);
  assert.deepEqual(await log.locator('.diff span').evaluateAll((nodes) => nodes.map((node) => [node.className, node.textContent.trimEnd()])),
    [['', ' fn a() {'], ['removed', '-  1'], ['added', '+  2'], ['', ' }']]);
  await log.getByText('Edit', { exact: true }).waitFor();
  assert.match(await log.textContent(), /Edit main\.rs/, 'the path is below the directory of the run');
  await shows(page, 'claude-sonnet-4-5');
  assert.equal((await log.getByText('What I did').all()).length, 1, 'the answer is there once');
  await user.towpath(['logs', run]).then((printed) => assert.match(printed, /What I did/));
});

test('Find and First error look into what an agent did', async ({ user, open }) => {
  const runner = agentProgram(user);
  user.write('go', '');
  assert.equal(await runner.ended, 0);
  const page = await open(`/run/${await user.newest()}/step/fix`);
  await transcript(page).getByText('What I did').waitFor();
  const found = page.locator('transcript-view .found');
  await button(page, 'First error').click();
  await until('the error', async () => (await found.textContent()) === '1 of 1');
  const field = page.getByRole('searchbox', { name: 'Find in what the agent did' });
  await field.fill('MAIN.RS');
  await field.press('Enter');
  await until('both', async () => (await found.textContent()) === '1 of 2');
  await field.press('Enter');
  await until('the next', async () => (await found.textContent()) === '2 of 2');
  await field.fill('subtype');
  await field.press('Enter');
  await until('nothing of the JSON', async () => (await found.textContent()) === 'no match');
});

test('what a step and a run changed is shown', async ({ user, open }) => {
  const git = (...words) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: user.work });
  git('init', '-q');
  user.write('main.rs', '1\n');
  user.write('.gitignore', '*.jsonl\nclaude\ngo\nfix.yaml\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  const runner = agentProgram(user);
  user.write('go', '');
  assert.equal(await runner.ended, 0);
  const run = await user.newest();
  for (const [at, name] of [[`/run/${run}/step/fix`, 'What it changed'], [`/run/${run}`, 'What the agents changed']]) {
    const page = await open(at);
    await page.getByText(name, { exact: true }).click();
    await page.locator('diff-view .added', { hasText: '+2' }).waitFor();
    await page.locator('diff-view .removed', { hasText: '-1' }).waitFor();
  }
});
