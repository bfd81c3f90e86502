// What a user finds on the screens: by what is read there, or by its role.
import { until } from './user.mjs';

/** Waits for a text that can be seen. */
export async function shows(page, text) {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

export async function title(page, wanted) {
  await until(`a title like ${wanted}`, async () => wanted.test(await page.title()));
}

/** The row of a run in the list. */
export function row(page, run) {
  return page.getByRole('row').filter({ hasText: run }).first();
}

export function button(page, name) {
  return page.getByRole('button', { name }).filter({ visible: true }).first();
}

/** The card of the chart with this beginning of its name. */
export function card(page, name) {
  return page.getByRole('region', { name: 'Graph' }).getByRole('link', { name });
}

export function dialog(page) {
  return page.getByRole('dialog');
}

/** Waits for what the page calls its connection. */
export async function connection(page, wanted) {
  await until(`a connection that is ${wanted}`, async () => wanted.test(await page.locator('#connection').textContent()));
}

function log(page, label = 'stdout') {
  return page.getByRole('log', { name: label });
}

/** Waits for a text in what a job printed. */
export async function logLine(page, text, label) {
  await log(page, label).getByText(text).first().waitFor({ state: 'attached' });
}

/** All that is shown of what a job printed, which must be all of it. */
export async function wholeLog(page, label) {
  const blocks = await log(page, label).locator('pre').allTextContents();
  return blocks.join('');
}

/** Shows an end of what a job printed: `Start` or `End`. */
export async function toEnd(page, name = 'End') {
  await page.getByRole('button', { name, exact: true }).click();
  const wanted = name === 'End' ? (node) => node.scrollTop + node.clientHeight > node.scrollHeight - 4 : (node) => node.scrollTop === 0;
  await until(`the log is at its ${name}`, () => log(page).evaluate(wanted));
}

/** How many matches the page counts. */
export async function searchCount(page, text) {
  const field = page.getByRole('searchbox', { name: 'Find in stdout' });
  await field.fill(text);
  await field.press('Enter');
  const found = page.locator('log-view .found').first();
  const counted = await until('a count', async () => /of ([\d,]+), line/.exec(await found.textContent()));
  return Number(counted[1].replaceAll(',', ''));
}
