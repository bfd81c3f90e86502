// The figures of the page: started by bench/page/run.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch, open } from '../../tests/browser/browser.mjs';
import { card, logLine, toEnd } from '../../tests/browser/screens.mjs';
import { User } from '../../tests/browser/user.mjs';

const quick = process.argv.includes('--quick');
const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const ms = (value) => (value < 1000 ? `${value.toFixed(value < 100 ? 1 : 0)} ms` : `${(value / 1000).toFixed(2)} s`);
const frames = (times) => `median ${ms(median(times))}, 95 of 100 below ${ms(sorted(times)[Math.floor(times.length * 0.95)])}, worst ${ms(Math.max(...times))}, of ${times.length}`;

/** With a user of its own, whose files are on the disk: 1 GB does not fit everybody's memory. */
async function withUser(body) {
  const user = new User(process.env.TOWPATH_BENCH_DIRECTORY ?? '/var/tmp');
  try {
    return await body(user);
  } finally {
    await user.close();
  }
}

/** Real runs of a recipe of one step. */
async function manyRuns(user, number) {
  user.write('tiny.yaml', 'name: tiny\nsteps:\n  - id: only\n    command: echo done\n');
  let left = number;
  const worker = async () => {
    while (left-- > 0) await user.towpath(['run', 'tiny.yaml', '-q']);
  };
  await Promise.all([worker(), worker()]);
}

async function memory(browser) {
  const number = quick ? 100 : 1000;
  return withUser(async (user) => {
    await manyRuns(user, number);
    const server = await user.serve();
    const ask = () => fetch(`${server.origin}/api/v1/runs?limit=1000`, { headers: { authorization: `Bearer ${server.token}` } });
    const times = [];
    for (let n = 0; n < 10; n += 1) {
      const began = performance.now();
      const { runs } = await (await ask()).json();
      times.push(performance.now() - began);
      if (runs.length !== number) throw new Error(`${runs.length} runs are listed`);
    }
    const page = await open(browser, server, '/');
    await page.getByRole('row').nth(10).waitFor();
    await page.watched.context.close();
    const status = fs.readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const mebibytes = (name) => `${(Number(status.match(new RegExp(`${name}:\\s*(\\d+)`))[1]) / 1024).toFixed(1)} MiB`;
    return [`server with ${number.toLocaleString('en')} runs listed: resident memory`, mebibytes('VmRSS'), `peak ${mebibytes('VmHWM')}; the whole list in ${ms(median(times))}`, '64 MiB'];
  });
}

/** From the time of a fact, taken before its commit, to the step's changed card in the page. */
async function latency(browser) {
  const number = quick ? 10 : 40;
  return withUser(async (user) => {
    const steps = Array.from({ length: number }, (_, n) => `  - id: s${n}\n    command: sleep 0.3\n`);
    user.write('steps.yaml', `name: steps\nsteps:\n  - id: begin\n    command: until [ -e go ]; do sleep 0.02; done\n${steps.join('')}`);
    const server = await user.serve();
    const runner = user.start(['run', 'steps.yaml', '-q']);
    const run = await user.newest();
    const page = await open(browser, server, `/run/${run}`);
    await card(page, 'begin: running').waitFor();
    await page.evaluate(watchCards);
    user.write('go', '');
    await runner.ended;
    await page.waitForFunction((last) => window.seen[last], `s${number - 1}`);
    const seen = await page.evaluate(() => window.seen);
    const answer = await fetch(`${server.origin}/api/v1/runs/${run}`, { headers: { authorization: `Bearer ${server.token}` } });
    const { jobs } = await answer.json();
    const took = jobs.filter((job) => job.path !== 'begin').map((job) => seen[job.path] - Date.parse(job.ended));
    await page.watched.context.close();
    return [`a fact's commit to the browser`, ms(median(took)), `median of ${took.length}, worst ${ms(Math.max(...took))}`, '150 ms'];
  });
}

/** In the page: when the card of each step first showed its end. */
function watchCards() {
  window.seen = {};
  const look = () => {
    for (const card of document.querySelectorAll('run-graph a[aria-label$=": completed"]')) window.seen[card.dataset.path] ??= Date.now();
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}

async function hugeLog(browser) {
  const bytes = quick ? 2 ** 26 : 2 ** 30;
  return withUser(async (user) => {
    user.write('huge.yaml', `name: huge\nsteps:\n  - id: print\n    command: yes "a line of a log that is a gigabyte long" | head -c ${bytes}; echo; echo the very end\n`);
    await user.towpath(['run', 'huge.yaml', '-q']);
    const run = await user.newest();
    const server = await user.serve();
    const times = [];
    for (let n = 0; n < 5; n += 1) {
      const page = await open(browser, server, '/');
      await page.getByRole('row').nth(1).waitFor();
      const began = performance.now();
      await page.goto(`${server.origin}/run/${run}/step/print`);
      await logLine(page, 'the very end');
      times.push(performance.now() - began);
      await page.watched.context.close();
    }
    return [`a log of ${bytes === 2 ** 30 ? '1 GB' : '64 MB'}, opened at its end`, ms(median(times)), `median of ${times.length}, worst ${ms(Math.max(...times))}`, '1 s'];
  });
}

/** In the page: the times between frames, until `window.stop` is set. */
function countFrames() {
  window.times = [];
  window.stop = false;
  let before = performance.now();
  const next = (now) => {
    window.times.push(now - before);
    before = now;
    if (!window.stop) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

const countedFrames = (page) => page.evaluate(() => {
  window.stop = true;
  return window.times.slice(1);
});

async function scrolling(browser) {
  return withUser(async (user) => {
    user.write('long.yaml', 'name: long\nsteps:\n  - id: print\n    command: seq -f "line %06.0f of the log" 1 100000\n');
    await user.towpath(['run', 'long.yaml', '-q']);
    const run = await user.newest();
    const server = await user.serve();
    const page = await open(browser, server, `/run/${run}/step/print`);
    await logLine(page, 'line 100000');
    await toEnd(page, 'Start');
    const log = page.getByRole('log');
    await log.hover();
    await page.evaluate(countFrames);
    for (let n = 0; n < (quick ? 60 : 300); n += 1) await page.mouse.wheel(0, n % 50 === 49 ? 200_000 : 400);
    const times = await countedFrames(page);
    await page.watched.context.close();
    return ['frames while a log of 100,000 lines is scrolled', ms(median(times)), frames(times), ''];
  });
}

async function fanOut(browser) {
  return withUser(async (user) => {
    const steps = Array.from({ length: 200 }, (_, n) => `  - id: s${n}\n    parallel_group: all\n    command: ': < go; sleep 1.${n % 10}'\n`);
    user.write('wide.yaml', `name: wide\nrecursion:\n  max_total_steps: 300\nsteps:\n${steps.join('')}`);
    const server = await user.serve();
    const gate = user.gate('go');
    const runner = user.start(['run', 'wide.yaml', '-q']);
    const run = await user.newest();
    const page = await open(browser, server, `/run/${run}`);
    await card(page, '200 steps: 200 running').waitFor();
    await page.evaluate(countFrames);
    gate.open();
    await runner.ended;
    await card(page, '200 steps: 200 completed').waitFor();
    const times = await countedFrames(page);
    await page.watched.context.close();
    return ['frames while 200 steps run at the same time', ms(median(times)), frames(times), ''];
  });
}

function table(rows) {
  return `| what | towpath | details | bound |\n|---|---|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`;
}

function write(file, text) {
  const [begin, end] = ['<!-- page -->', '<!-- end of page -->'];
  const before = fs.readFileSync(file, 'utf8');
  if (!before.includes(begin) || !before.includes(end)) throw new Error(`${file} has no ${begin} … ${end}`);
  fs.writeFileSync(file, `${before.slice(0, before.indexOf(begin))}${begin}\n${text}\n${before.slice(before.indexOf(end))}`);
}

const load = os.loadavg()[0].toFixed(1);
const browser = await launch();
const rows = [];
for (const measure of [memory, latency, hugeLog, scrolling, fanOut]) {
  rows.push(await measure(browser));
  console.error(rows.at(-1).join(' · '));
}
await browser.close();
const day = new Date().toISOString().slice(0, 10);
const text = `${day}, ${os.cpus().length} cores, ${os.cpus()[0].model}, Linux ${os.release()}, load ${load} before and ${os.loadavg()[0].toFixed(1)} after; `
  + `Chromium ${browser.version()} without a graphics card; \`bench/page/run${process.argv.includes('--program') ? ' --program' : ''}\`.\n\n${table(rows)}`;
console.log(text);
const file = process.argv.indexOf('--markdown');
if (file > 0) write(path.resolve(process.argv[file + 1]), text);
