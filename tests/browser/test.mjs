// A test is a name and what a user does; each has a user of its own, and whatever it opened is checked and closed.
import { check, describe, open } from './browser.mjs';
import { HANGS, User } from './user.mjs';

export const tests = [];
/** The longest test has more than forty screens to look at. */
const LONGEST = 4 * HANGS;

/** `body` is given `user`, `server` (unless `serve` is false) and `open` (an address → a page). */
export function test(name, body, { serve = [], allowed = [] } = {}) {
  tests.push({ name, run: (browser) => run(browser, name, body, serve, allowed) });
}

async function run(browser, name, body, serve, allowed) {
  const user = new User();
  const pages = [];
  try {
    const server = serve ? await user.serve(...serve) : null;
    const opened = async (at, options = {}) => {
      const page = await open(browser, options.server ?? server, at, { allowed, ...options });
      pages.push(page);
      return page;
    };
    await bounded(body({ user, server, open: opened }));
    pages.forEach(check);
  } catch (error) {
    for (const page of pages) error.stack += `\n\n${await describe(page, name)}`;
    throw error;
  } finally {
    for (const page of pages) await page.watched.context.close();
    await user.close();
  }
}

/** A test that waits for what never comes fails by its name, before the bound of all tests ends them. */
async function bounded(test) {
  let timer;
  const hangs = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not done after ${LONGEST / 1000} s`)), LONGEST);
  });
  try {
    await Promise.race([test, hangs]);
  } finally {
    clearTimeout(timer);
  }
}
