import assert from 'node:assert/strict';
import { greet } from './recipes.mjs';
import { button, shows, title } from './screens.mjs';
import { test } from './test.mjs';

test('a run is started from the form with an input', async ({ user, open }) => {
  user.write('greet.yaml', greet.replace('command:', 'command: until [ -e go ]; do sleep 0.02; done;'));
  const page = await open('/start/greet.yaml');
  const word = page.getByLabel('word');
  assert.equal(await word.inputValue(), 'hello');
  await word.fill('it\'s "you"');
  await shows(page, `towpath run greet.yaml --set 'word=it'\\''s "you"'`);
  await button(page, /^start/i).dblclick();
  await page.waitForURL(/\/run\//);
  const run = page.url().match(/run\/([^/#]+)/)[1];
  user.write('go', '');
  await title(page, /^done/);
  const shown = await user.show(run);
  assert.equal(shown.inputs.word, 'it\'s "you"');
  assert.equal(shown.steps[0].output, 'it\'s "you" there');
  assert.equal((await user.json(['runs', '--all', '--json'])).runs.length, 1, 'a second click starts nothing');
});

test('numbers keep their digits from the recipe to the run', async ({ user, open }) => {
  user.write('digits.yaml', 'name: digits\ncontext: { version: 1.10, account: 9007199254740993, map: { n: 12345678901234567890 } }\nsteps:\n  - id: a\n    command: echo {{version}} {{account}}\n');
  const page = await open('/start/digits.yaml');
  assert.equal(await page.getByLabel('version').inputValue(), '1.10');
  assert.equal(await page.getByLabel('account').inputValue(), '9007199254740993');
  assert.match(await page.getByLabel('map').inputValue(), /12345678901234567890/);
  await page.getByLabel('version').fill('1.1');
  await button(page, /^start/i).click();
  await title(page, /^done/);
  await page.locator('dl.facts').getByText('1.1', { exact: true }).waitFor();
  assert.equal((await user.show(await user.newest())).steps[0].output, '1.1 9007199254740993');
});

test('a run that ends at once is opened from the form, too', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  const page = await open('/start/greet.yaml');
  await button(page, /^start/i).click();
  await page.waitForURL(/\/run\//);
  await title(page, /^done: greet/);
});

test('a start that is refused shows the words of the command', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  const page = await open('/start/greet.yaml');
  await page.getByLabel('word').waitFor();
  user.write('greet.yaml', 'name: greet\nsteps: 7\n');
  const refused = user.start(['run', '--quiet', 'greet.yaml']);
  assert.notEqual(await refused.ended, 0);
  await button(page, /^start/i).click();
  const shown = page.getByRole('alert').filter({ hasText: 'refused' });
  await shown.waitFor();
  const words = (text) => text.split(/\s+/).filter(Boolean).join(' ');
  assert.ok(words(await shown.textContent()).includes(words(refused.stderr)), refused.stderr);
  assert.match(page.url(), /\/start/);
  assert.deepEqual((await user.json(['runs', '--all', '--json'])).runs, []);
}, { allowed: [/409|400/] });

test('two runs are compared step by step', async ({ user, open }) => {
  user.write('greet.yaml', greet.replace('steps:', 'steps:\n  - id: same\n    command: echo same'));
  await user.towpath(['run', 'greet.yaml', '-q']);
  const first = await user.newest();
  await user.towpath(['run', 'greet.yaml', '-q', '--set', 'word=goodbye']);
  const second = await user.newest(first);
  const page = await open(`/compare/${first}/${second}`);
  await shows(page, first);
  await shows(page, second);
  const cells = async (step) => (await page.getByRole('row').filter({ hasText: step }).first().textContent());
  assert.match(await cells('hi'), /first difference/);
  assert.match(await cells('same'), /^same(?!.*differ)/);
});
