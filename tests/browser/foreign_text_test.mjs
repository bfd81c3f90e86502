import assert from 'node:assert/strict';
import { logLine, shows } from './screens.mjs';
import { test } from './test.mjs';

const nasty = `
name: nasty
steps:
  - id: print
    command: |
      echo '<script>document.title = "owned"</script><img src=x onerror="document.title = 1">'
      printf '\\033[31mred\\033[0m and \\033]8;;http://example.com/\\033\\\\link\\033]8;;\\033\\\\\\n'
      printf 'to \\342\\200\\256 the left\\n'
      printf 'bell \\007 and null \\000 end\\n'
      echo "the end"
      exit 1
`;

test('what a step prints is shown as text', async ({ user, open }) => {
  user.write('nasty.yaml', nasty);
  await user.towpath(['run', 'nasty.yaml', '-q'], { exits: 1 });
  const run = await user.newest();
  const page = await open(`/run/${run}/step/print`);
  await logLine(page, '<script>document.title = "owned"</script>');
  await logLine(page, 'the end');
  for (const at of [null, `/run/${run}`, '/']) {
    if (at) await page.goto(new URL(at, page.url()).href);
    await shows(page, at ? 'nasty' : 'print');
    const found = await page.evaluate(() => ({
      scripts: [...document.querySelectorAll('script')].map((script) => script.src).filter((src) => !src.startsWith(location.origin)),
      images: document.querySelectorAll('img[src=x]').length,
      raw: (document.body.innerText.match(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g) ?? []).length,
      away: [...document.querySelectorAll('a')].filter((link) => new URL(link.getAttribute('href') ?? '/', location.href).host !== location.host).length,
    }));
    assert.deepEqual(found, { scripts: [], images: 0, raw: 0, away: 0 }, at);
    assert.doesNotMatch(await page.title(), /owned/);
  }
  await page.goto(new URL(`/run/${run}/step/print`, page.url()).href);
  await logLine(page, 'the end');
  const text = await page.locator('body').innerText();
  assert.match(text, /red and/);
  assert.doesNotMatch(text, /\[31m/);
  assert.match(text, /to (\S+) the left/, 'the bidirectional character is visible');
});
