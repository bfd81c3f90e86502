// Runs the tests, as many at once as there are processors, the longest first: node all.mjs [WORD…]
import os from 'node:os';
import { launch } from './browser.mjs';
import { tests } from './test.mjs';

for (const file of ['looks', 'agents', 'opening', 'following', 'reading', 'deciding', 'starting', 'large', 'foreign_text']) {
  await import(`./${file}_test.mjs`);
}

const words = process.argv.slice(2);
const wanted = tests.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (wanted.length === 0) throw new Error(`no test is named so: ${words.join(' ')}`);
const browser = await launch();
const waiting = [...wanted];
let failed = 0;

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const began = Date.now();
    const error = await next.run(browser).then(() => null, (thrown) => thrown);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    console.log(`${error ? 'FAIL' : '  ok'}  ${seconds.padStart(5)} s  ${next.name}`);
    if (error) {
      failed += 1;
      console.log(`${error.stack}\n`.replaceAll(/^/gm, '      '));
    }
  }
}

await Promise.all(Array.from({ length: os.availableParallelism() }, work));
await browser.close();
console.log(`${wanted.length - failed} of ${wanted.length} tests of the page passed`);
process.exit(failed === 0 ? 0 : 1);
