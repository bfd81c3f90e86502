// Recipes that several tests run.
import { until } from './user.mjs';

export const greet = 'name: greet\ncontext: { word: hello }\nsteps:\n  - id: hi\n    command: echo {{word}} there\n';

/** Prints lines before and after a file `go` is there; what it printed is also in the file `log`. */
export const slow = `
name: slow
steps:
  - id: wait
    command: |
      { for n in $(seq 1 3000); do echo "early $n"; done
        until [ -e go ]; do sleep 0.02; done
        for n in $(seq 1 3000); do echo "late $n"; done; } | tee log
  - id: last
    command: echo end
`;

/** Asks what became of \`pay\` when its process is killed. */
export const once = `
name: shop
steps:
  - id: pay
    effect: once
    output: receipt
    command: echo paid >> paid; until [ -e go ]; do sleep 0.02; done; echo by machine
  - id: ship
    command: echo shipped {{receipt}} | tee -a shipped
`;

export const agent = `
name: plan
steps:
  - {id: first, prompt: 'Make a plan'}
  - {id: second, prompt: 'Do it'}
`;

/** An answer of the scripted agent: its rate limit ends in an hour. */
export const limited = () => `${JSON.stringify({ error: 'limit', until: Math.floor(Date.now() / 1000) + 3600 })}\n`;

/** A run that asks what became of \`pay\`. */
export async function asking(user) {
  user.write('once.yaml', once);
  const runner = user.start(['run', 'once.yaml', '-q']);
  const run = await user.newest();
  await until('the payment', () => user.exists('paid'));
  runner.kill();
  await until('it asks', async () => (await user.show(run)).asking.length === 1);
  return run;
}
