import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { asking, greet, slow } from './recipes.mjs';
import { button, row, shows, title } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

test('a fresh page explains how to begin, and the token leaves the address', async ({ server, open }) => {
  const page = await open('/');
  await shows(page, 'towpath run');
  await until('the address without a token', () => !page.url().includes('t='));
  assert.equal(page.url(), `${server.origin}/`);
  assert.ok(!(await page.content()).includes(server.token), 'the token is in the page');
  assert.deepEqual(await page.context().cookies(), []);
  await page.reload();
  await shows(page, 'towpath run');
});

test('a tab without a token explains how to get an address', async ({ server, open }) => {
  const page = await open('/', { token: false });
  await shows(page, 'towpath ui --print-url');
  await page.goto(`${server.origin}/run/7f3k`);
  await shows(page, 'towpath ui --print-url');
});

test('the token of another server is refused in words', async ({ server, open }) => {
  const page = await open('/', { server: { ...server, token: '0'.repeat(32) } });
  await shows(page, 'towpath ui --print-url');
}, { allowed: [/401/, /WebSocket/] });

test('a run that another terminal starts appears, and its end too', async ({ user, open }) => {
  user.write('slow.yaml', slow);
  const page = await open('/');
  await shows(page, 'towpath run');
  const runner = user.start(['run', 'slow.yaml', '-q']);
  const run = await user.newest();
  await row(page, run).getByText('running', { exact: true }).waitFor();
  user.write('go', '');
  assert.equal(await runner.ended, 0);
  await row(page, run).getByText('done', { exact: true }).waitFor();
});

test('a link that is opened in another tab brings its token', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const run = await user.newest();
  const page = await open('/');
  const link = row(page, run).getByRole('link');
  for (const how of [{ modifiers: ['Control'] }, { button: 'middle' }]) {
    const [other] = await Promise.all([page.context().waitForEvent('page'), link.click(how)]);
    await title(other, /^done: greet/);
    assert.equal(new URL(other.url()).hash, '');
  }
});

test('a filter is part of the address', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  user.write('fails.yaml', 'name: fails\nsteps:\n  - id: a\n    command: exit 3\n');
  await user.towpath(['run', 'greet.yaml', '-q']);
  const done = await user.newest();
  await user.towpath(['run', 'fails.yaml', '-q'], { exits: 1 });
  const failed = await user.newest(done);
  const page = await open('/');
  await row(page, done).waitFor();
  await page.getByLabel('Status').selectOption('failed');
  await row(page, done).waitFor({ state: 'hidden' });
  await page.reload();
  await row(page, failed).waitFor();
  assert.equal(await row(page, done).count(), 0);
  assert.equal(await page.getByLabel('Status').inputValue(), 'failed');
});

test('Escape empties a filter, and the list is whole again', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const run = await user.newest();
  const page = await open('/');
  await row(page, run).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('nothing like it');
  await row(page, run).waitFor({ state: 'hidden' });
  await page.keyboard.press('Escape');
  await row(page, run).waitFor();
  assert.equal(new URL(page.url()).search, '');
});

test('a filter is empty again when all runs are asked for', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const run = await user.newest();
  const page = await open('/');
  await page.getByLabel('Find').fill('nothing like it');
  await row(page, run).waitFor({ state: 'hidden' });
  await page.getByLabel('Status').selectOption('failed');
  await page.waitForURL(/status=failed/);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Runs' }).click();
  await row(page, run).waitFor();
  assert.equal(await page.getByLabel('Find').inputValue(), '');
  assert.equal(await page.getByLabel('Status').inputValue(), '');
});

test('the title of the tab follows the status of its run', async ({ user, open }) => {
  user.write('slow.yaml', slow);
  const runner = user.start(['run', 'slow.yaml', '-q']);
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  await title(page, /running/);
  user.write('go', '');
  assert.equal(await runner.ended, 0);
  await title(page, /done/);
});

test('a read-only page has no button that does something', async ({ user, server, open }) => {
  user.write('.towpath/recipes/greet.yaml', greet);
  user.write('fails.yaml', 'name: fails\nsteps:\n  - id: a\n    command: exit 3\n');
  await user.towpath(['run', 'fails.yaml', '-q'], { exits: 1 });
  const run = await user.newest();
  const acts = (page) => page.getByRole('button', { name: /^(resume|cancel|do not|continue|run|start|trust)/i });
  const screens = [[`/run/${run}`, `towpath resume ${run}`], ['/start/greet', 'there']];
  for (const [at, text] of screens) {
    const page = await open(at);
    await shows(page, text);
    assert.deepEqual(await acts(page).allTextContents(), [], at);
  }
  server.kill();
  await server.ended;
  const other = await user.serve();
  for (const [at, text] of screens) {
    const page = await open(at, { server: other });
    await shows(page, text);
    await acts(page).first().waitFor();
  }
}, { serve: ['--read-only'], allowed: [/ERR_CONNECTION_REFUSED|WebSocket/] });

test('an address without a screen is explained by the page', async ({ server, open }) => {
  const page = await open('/rnu/7f3k');
  await shows(page, 'This address has no screen.');
  await page.getByRole('link', { name: 'All runs' }).click();
  await page.waitForURL(`${server.origin}/`);
  await shows(page, 'towpath run');
}, { allowed: [/404/] });

test('a notification leads to the run that asks', async ({ user, open }) => {
  const page = await open('/', { permissions: ['notifications'] });
  // A browser without a desktop shows none: the page is given one that remembers what it was told.
  await page.evaluate(() => {
    window.Notification = class {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(title, { body }) { Object.assign(this, { title, body }); window.notified = this; }
    };
  });
  await page.getByLabel('Notify me when a run asks').check();
  const run = await asking(user);
  await until('a notification', () => page.evaluate(() => Boolean(window.notified)));
  assert.equal(await page.evaluate(() => window.notified.title), `shop ${run}`);
  await page.evaluate(() => window.notified.onclick());
  await page.waitForURL(`**/run/${run}`);
  await shows(page, `towpath resume ${run} --done pay`);
});

test('runs that run are shown however many failed, and a failure is put aside', async ({ user, open }) => {
  user.write('slow.yaml', slow);
  const failed = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    user.write(`${name}.yaml`, `name: ${name}\nsteps:\n  - id: x\n    command: exit 3\n`);
    await user.towpath(['run', `${name}.yaml`, '-q'], { exits: 1 });
    failed.push(await user.newest(...failed));
  }
  user.start(['run', 'slow.yaml', '-q']);
  const running = await user.newest(...failed);
  const page = await open('/?each=3');
  await page.getByRole('region', { name: /Running/ }).getByText(running).waitFor();
  await title(page, /^7 need you, 1 running/);
  const first = failed.at(-1);
  await button(page, `Dismiss ${first}`).click();
  await title(page, /^6 need you/);
  await page.getByRole('region', { name: /Earlier/ }).getByText(first).waitFor();
  await page.goto(new URL('/', page.url()).href);
  const urgent = page.getByRole('region', { name: /Needs you/ });
  await urgent.getByText('and 1 more').waitFor();
  assert.equal(await urgent.getByRole('row').filter({ visible: true }).count(), 6, 'a head and five rows');
  // A run that continued since needs the user again.
  await user.towpath(['resume', first, '-q'], { exits: 1 });
  await title(page, /^7 need you/);
});

test('the times of a list do not run into each other', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const page = await open('/', { viewport: { width: 1280, height: 800 } });
  await row(page, await user.newest()).waitFor();
  await page.clock.setFixedTime(new Date(Date.now() + 400 * 24 * 3600e3));
  await page.goto(new URL('/', page.url()).href);
  const time = page.locator('td time').first();
  await until('a date with its year', async () => /\d{4} \d\d:\d\d/.test(await time.textContent()));
  const [text, cell] = await time.evaluate((node) => {
    const range = new Range();
    range.selectNodeContents(node);
    return [range.getBoundingClientRect().right, node.closest('td').getBoundingClientRect().right];
  });
  assert.ok(text < cell, `${text} ${cell}`);
});

test('Copy copies where the browser has no clipboard for the page', async ({ user, open }) => {
  user.write('fails.yaml', 'name: fails\nsteps:\n  - id: a\n    command: exit 3\n');
  await user.towpath(['run', 'fails.yaml', '-q'], { exits: 1 });
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.addEventListener('copy', () => (window.copied = String(getSelection())));
  });
  await button(page, `Copy towpath resume ${run}`).click();
  await until('it was copied', async () => (await page.evaluate(() => window.copied)) === `towpath resume ${run}`);
});

test('an address with a code leads to the page once, and has no token', async ({ user, server, open }) => {
  user.write('greet.yaml', greet);
  await user.towpath(['run', 'greet.yaml', '-q']);
  const run = await user.newest();
  const made = `${Date.now()}-ab12`;
  const hash = crypto.createHash('sha256').update(`open:${server.token}:${made}`).digest('hex');
  const page = await open(`/open/${made}-${hash}/run/${run}`, { token: false });
  await title(page, /^done: greet/);
  assert.equal(page.url(), `${server.origin}/run/${run}`);
  const other = await open(`/open/${made}-${hash}/run/${run}`, { token: false });
  await shows(other, 'towpath ui --print-url');
}, { allowed: [/401/] });
