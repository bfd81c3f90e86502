import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { accessibility } from './browser.mjs';
import { agent, greet, limited, once, slow } from './recipes.mjs';
import { button, dialog, row, shows } from './screens.mjs';
import { test } from './test.mjs';
import { until } from './user.mjs';

/** Runs of every status, and a recipe that is not trusted. */
async function everything(user) {
  const runs = {};
  const keep = async (name) => { runs[name] = await user.newest(...Object.values(runs)); };
  user.write('greet.yaml', greet);
  user.write('slow.yaml', slow);
  user.write('once.yaml', once);
  user.write('agent.yaml', agent);
  user.write('answers.jsonl', `{"text": "A plan.", "cost_usd": 0.25}\n${limited()}`);
  user.write('fails.yaml', 'name: fails\nsteps:\n  - id: build\n    command: echo a >&2; exit 3\n  - id: after\n    command: echo never\n    condition: build == "x"\n');
  user.write('.towpath/recipes/ci.yaml', 'name: ci\ndescription: Build and test.\ncontext: { mode: fast }\nsteps:\n  - id: build\n    command: echo {{mode}}\n');
  await user.towpath(['run', 'greet.yaml', '-q']);
  await keep('done');
  await user.towpath(['run', 'greet.yaml', '-q', '--set', 'word=other']);
  await keep('second');
  await user.towpath(['run', 'fails.yaml', '-q'], { exits: 1 });
  await keep('failed');
  await user.towpath(['run', 'agent.yaml', '-q', '--script', 'answers.jsonl'], { exits: 75 });
  await keep('waiting');
  const killed = user.start(['run', 'once.yaml', '-q']);
  await keep('asking');
  await until('the payment', () => user.exists('paid'));
  killed.kill();
  await until('it asks', async () => (await user.show(runs.asking)).asking.length === 1);
  user.start(['run', 'slow.yaml', '-q']);
  await keep('running');
  await until('it prints', () => user.read('log').includes('early 3000'));
  return runs;
}

/** Every screen with something that it shows when it is whole. */
const screens = (runs) => [
  ['runs', '/', runs.failed],
  ['run-failed', `/run/${runs.failed}`, 'exit 3'],
  ['run-running', `/run/${runs.running}`, 'running'],
  ['run-asking', `/run/${runs.asking}`, '--again pay'],
  ['run-waiting', `/run/${runs.waiting}`, 'rate limit'],
  ['step', `/run/${runs.running}/step/wait`, 'early 3000'],
  ['step-agent', `/run/${runs.waiting}/step/first`, 'A plan.'],
  ['questions', '/questions', '--done pay'],
  ['start', '/start', 'ci'],
  ['start-one', '/start/ci', 'mode'],
  ['compare', `/compare/${runs.done}/${runs.second}`, runs.second],
  ['doctor', '/doctor', 'bash'],
];

async function visit(page, [name, at, text]) {
  await page.goto(new URL(at, page.url()).href);
  await shows(page, text);
  await page.waitForLoadState('networkidle');
  return name;
}

async function picture(page, name) {
  const directory = process.env.TOWPATH_SCREENS;
  if (!directory) return;
  fs.mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true });
}

/** What axe finds about the screen in each look, and whether it fits into 320 pixels. */
async function problems(page, name) {
  const found = [];
  const look = async (word, media = {}) => {
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
    await picture(page, `${name}-${word}`);
    found.push(...(await accessibility(page)).map((text) => `${name}, ${word}: ${text}`));
  };
  await look('light');
  await look('dark', { colorScheme: 'dark' });
  await look('forced', { forcedColors: 'active' });
  await page.setViewportSize({ width: 320, height: 640 });
  await look('narrow');
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
  if (wide > 320) found.push(`${name}: ${wide} pixels wide at 320`);
  await page.setViewportSize({ width: 1100, height: 800 });
  return found;
}

test('every screen is accessible in light, dark and forced colours, and fits 320 pixels', async ({ user, open }) => {
  const runs = await everything(user);
  const found = [];
  const page = await open('/');
  for (const screen of screens(runs)) {
    const name = await visit(page, screen);
    assert.match(await page.title(), /\S/);
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, `${name} has one heading of level 1`);
    found.push(...await problems(page, name));
  }
  assert.deepEqual(found, []);
});

test('dialogs, refusals and empty screens are accessible, too', async ({ user, open }) => {
  const empty = await open('/');
  await shows(empty, 'towpath run');
  const found = await problems(empty, 'empty');
  user.write('slow.yaml', slow);
  user.start(['run', 'slow.yaml', '-q']);
  const run = await user.newest();
  const page = await open(`/run/${run}`);
  await button(page, 'Cancel the run').click();
  await dialog(page).waitFor();
  found.push(...await problems(page, 'dialog'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await dialog(page).waitFor();
  found.push(...await problems(page, 'keys'));
  await page.goto(new URL('/run/none', page.url()).href);
  await shows(page, 'there is no run');
  found.push(...await problems(page, 'missing'));
  assert.deepEqual(found, []);
}, { allowed: [/404/] });

test('everything is reached by keyboard alone', async ({ user, open }) => {
  user.write('greet.yaml', greet);
  const runs = [];
  for (let n = 0; n < 3; n += 1) {
    await user.towpath(['run', 'greet.yaml', '-q']);
    runs.unshift(await user.newest(...runs));
  }
  const page = await open('/');
  await row(page, runs[2]).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.closest('tr, li, [role=row], article')?.textContent ?? document.activeElement.textContent);
  const press = async (key, run) => {
    await page.keyboard.press(key);
    await until(`${key} leads to ${run}`, async () => (await focused()).includes(run));
  };
  await press('j', runs[0]);
  await press('j', runs[1]);
  await press('k', runs[0]);
  await press('j', runs[1]);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  assert.match(await page.getByRole('dialog').textContent(), /filter/i);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.ok((await focused()).includes(runs[1]), 'the focus returns');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/run/${runs[1]}`);
  await page.getByRole('heading', { level: 1, name: `greet ${runs[1]}` }).waitFor();
  await until('the screen has the focus', () => page.evaluate(() => document.activeElement.id === 'main'));
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForURL((url) => url.pathname === '/');
  await row(page, runs[2]).waitFor();
  await until('the list has the focus', () => page.evaluate(() => document.activeElement.id === 'main'));
  await page.keyboard.press('/');
  await page.keyboard.type(runs[2]);
  await row(page, runs[0]).waitFor({ state: 'hidden' });
  assert.ok(await row(page, runs[2]).isVisible());
});
