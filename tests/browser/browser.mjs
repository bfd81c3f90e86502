// One Chromium for all tests, a context of its own for each page, and what every page must keep to: nothing
// in the console, and no request to anything but its server.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { HANGS } from './user.mjs';

const require = createRequire(path.join(process.env.TOWPATH_BROWSER_PACKAGES, 'package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.TOWPATH_PICTURES ?? path.join(os.tmpdir(), 'towpath-pictures');

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!fs.existsSync(executablePath)) throw new Error(`no browser: ${executablePath} is missing (Debian's package chromium)`);
  // A file that the test gives has no address: without this it could not connect to the server's.
  const args = process.env.TOWPATH_PAGE ? ['--disable-features=LocalNetworkAccessChecks'] : [];
  return chromium.launch({ executablePath, args });
}

/** A page that was opened at an address of the server, with its token unless `token` is false. */
export async function open(browser, server, at = '/', { token = true, allowed = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(HANGS);
  const watched = { context, messages: [], elsewhere: [], allowed };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) watched.messages.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => watched.messages.push(`exception: ${error.stack || error}`));
  const visit = (url) => {
    const { protocol, host } = new URL(url);
    if (!['data:', 'blob:'].includes(protocol) && host !== new URL(server.origin).host) watched.elsewhere.push(url);
  };
  page.on('request', (request) => visit(request.url()));
  page.on('websocket', (socket) => visit(socket.url()));
  page.watched = watched;
  if (process.env.TOWPATH_PAGE) await filesFrom(context, server, process.env.TOWPATH_PAGE);
  await page.goto(`${server.origin}${at}${token ? `#t=${server.token}` : ''}`);
  return page;
}

const kinds = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

/** Serves the files of the page from a directory, with the headers of the server: a change needs no build. */
async function filesFrom(context, server, directory) {
  await context.route((url) => url.origin === server.origin && !url.pathname.startsWith('/api/'), async (route) => {
    const named = path.join(directory, path.basename(new URL(route.request().url()).pathname));
    const file = kinds[path.extname(named).slice(1)] ? named : path.join(directory, 'index.html');
    const { headers } = await fetch(server.origin).then((answer) => ({ headers: Object.fromEntries(answer.headers) }));
    await route.fulfill({ path: file, headers: { ...headers, 'content-type': kinds[path.extname(file).slice(1)] } });
  });
}

/** What must be so at the end of every test. `allowed` are messages that the test itself has caused. */
export function check(page) {
  const { messages, elsewhere, allowed } = page.watched;
  assert.deepEqual(messages.filter((text) => !allowed.some((one) => one.test(text))), [], 'the console');
  assert.deepEqual(elsewhere, [], 'requests to elsewhere');
}

/** What the page showed when a test failed. */
export async function describe(page, name) {
  fs.mkdirSync(pictures, { recursive: true });
  const file = path.join(pictures, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`);
  await page.screenshot({ path: file, fullPage: true, timeout: 5000 }).catch(() => {});
  const text = await page.evaluate(() => document.body.innerText).catch((error) => `${error}`);
  return [`at ${page.url()}, titled ${await page.title().catch(() => '?')}`, text.slice(0, 4000),
    'console:', ...page.watched.messages, `picture: ${file}`].join('\n');
}

/** The problems that axe finds, each with the elements that have it. */
export async function accessibility(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `    ${node.target} ${node.html.slice(0, 200)}\n      ${node.failureSummary.replaceAll('\n', ' ')}`).join('\n')}`);
}
