import assert from 'node:assert/strict';
import { greet } from './recipes.mjs';
import { button, dialog, shows, title } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

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

test('what was typed survives a trust, another screen and a dry run of any length', async ({ user, open }) => {
  user.write('.towpath/recipes/ask.yaml', 'name: ask\nrequired_context: [who]\ncontext: { mode: fast }\nsteps:\n  - id: a\n    command: echo {{who}} {{mode}}\n');
  const page = await open('/start/ask');
  await page.getByRole('textbox', { name: 'who' }).fill('ann');
  await page.getByRole('textbox', { name: 'mode' }).fill('slow');
  assert.ok(await button(page, /^start/i).isDisabled(), 'it could only be refused');
  await button(page, /^trust/i).click();
  await dialog(page).getByRole('button', { name: /^trust/i }).click();
  await page.getByText('Not trusted yet').waitFor({ state: 'hidden' });
  const typed = async () => [await page.getByRole('textbox', { name: 'who' }).inputValue(), await page.getByRole('textbox', { name: 'mode' }).inputValue()];
  assert.deepEqual(await typed(), ['ann', 'slow']);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Runs' }).click();
  await shows(page, 'towpath run');
  await page.goBack();
  await page.getByRole('textbox', { name: 'who' }).waitFor();
  assert.deepEqual(await typed(), ['ann', 'slow']);
  const long = 'x'.repeat(20_000);
  await page.getByRole('textbox', { name: 'who' }).fill(long);
  await button(page, /^dry run/i).click();
  await page.getByRole('region', { name: 'Dry run' }).getByText('echo', { exact: false }).first().waitFor();
  assert.deepEqual(await typed(), [long, 'slow']);
  assert.ok(!page.url().includes('xxx'), 'inputs are not in the address');
  await button(page, /^start/i).click();
  await title(page, /^done/);
  assert.ok((await page.locator('#notice').boundingBox()).height < 400, 'the notice is small');
});

test('an earlier run is started again with its inputs', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q', '--set', 'word=again']);
  const page = await open(`/run/${await user.newest()}`);
  await page.getByRole('link', { name: 'greet.yaml' }).click();
  await page.waitForURL(/start/);
  assert.equal(await page.getByRole('textbox', { name: 'word' }).inputValue(), 'again');
});

test('a start during another action waits for its turn', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  const page = await open('/start/greet.yaml');
  await page.getByLabel('word').waitFor();
  let held;
  await page.route('**/api/v1/runs', async (route) => {
    if (route.request().method() === 'POST' && !held) await new Promise((resolve) => (held = resolve));
    await route.continue();
  });
  await button(page, /^start/i).click();
  await until('it is under way', () => held);
  await page.getByLabel('word').fill('second');
  await button(page, /^start/i).click();
  held();
  await until('both ran', async () => (await user.json(['runs', '--all', '--json'])).runs.length === 2);
});

test('a wrong directory is corrected in its field', async ({ user, open }) => {
  user.write('.towpath/recipes/greet.yaml', greet);
  const page = await open('/start?directory=/nowhere');
  await page.getByRole('alert').getByText('/nowhere').waitFor();
  await page.getByLabel('Directory').fill(user.work);
  await page.getByLabel('Directory').blur();
  await page.getByRole('link', { name: 'greet' }).waitFor();
}, { allowed: [/400/] });
