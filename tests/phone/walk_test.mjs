// The shipped recipe `review-and-commit` from a remote client: to its end, with a retry, an error, an exit
// and a lock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Phone, User, eventually, lives, waiting } from './phone.mjs';

const SESSION = '22222222-2222-4222-8222-222222222222';

function walk(name, steps) {
  test(name, { timeout: 180_000 }, async () => {
    const user = new User();
    const phones = [];
    try {
      await user.serve();
      await steps(user, async (path) => {
        const phone = await Phone.connect(user, path);
        phones.push(phone);
        return phone;
      });
    } finally {
      user.write('go', '');
      phones.forEach((phone) => phone.close());
      await user.end();
    }
  });
}

const types = (messages) => messages.map((message) => message.type);
const stepStarted = (step, step_count) => ({ type: 'recipe_step_started', session_id: SESSION, step, step_count });
const transition = (from_step, to_step) => ({ type: 'recipe_step_transition', session_id: SESSION, from_step, to_step });
const exited = (reason) => ({ type: 'recipe_exited', session_id: SESSION, reason });

walk('a recipe is walked to its end, with a retry', async (user, connect) => {
  user.answers('issues-found', { text: 'Fixed it.' }, 'complete', 'no-issues', 'committed');
  const phone = await connect('/');
  phone.send({ type: 'get_available_recipes' });
  const [{ recipes }] = await phone.until('available_recipes');
  const description = 'Review existing changes, fix issues, and commit';
  const recipe = { id: 'review-and-commit', label: 'Review & Commit', description };
  assert.deepEqual(recipes.find(({ id }) => id === recipe.id), recipe);
  phone.start(SESSION, recipe.id);
  assert.deepEqual(await phone.until('turn_complete'), [
    { type: 'recipe_started', recipe_id: recipe.id, recipe_label: recipe.label, session_id: SESSION, current_step: 'code-review', step_count: 1 },
    { type: 'ack', message: 'Starting recipe...' },
    stepStarted('code-review', 1),
    transition('code-review', 'fix'),
    stepStarted('fix', 2),
    { type: 'orchestration_retry', session_id: SESSION, step: 'fix', error: 'No JSON block found in response' },
    transition('fix', 'code-review'),
    stepStarted('code-review', 3),
    transition('code-review', 'commit'),
    stepStarted('commit', 4),
    exited('changes-committed'),
    { type: 'turn_complete', session_id: SESSION },
  ]);
});

walk('an error ends a recipe without a complete turn', async (user, connect) => {
  user.answers('issues-found', { error: 'auth' });
  const phone = await connect();
  phone.start(SESSION, 'review-and-commit');
  const messages = await phone.until('error');
  const [end, error] = messages.slice(-2);
  assert.deepEqual([end.type, end.reason, end.error], ['recipe_exited', 'error', error.message]);
  assert.equal(error.session_id, SESSION);
  phone.send({ type: 'ping' });
  assert.deepEqual(types(await phone.until('pong')), ['pong']);
});

walk('an exit ends the processes first', async (user, connect) => {
  user.answers(waiting('no-issues'));
  const phone = await connect();
  phone.start(SESSION, 'review-and-commit');
  await eventually('the agent works', () => user.read('pid') !== '');
  phone.send({ type: 'exit_recipe', session_id: SESSION });
  const messages = await phone.until('recipe_exited');
  assert.ok(!lives(user.read('pid')), 'the process is gone');
  assert.deepEqual(messages.at(-1), exited('user-requested'));
  assert.deepEqual(await phone.next(), { type: 'turn_complete', session_id: SESSION, aborted: true });
});

walk('a session that is locked starts nothing, and both clients see the same', async (user, connect) => {
  user.answers(waiting('no-issues'), 'committed');
  const [first, second] = [await connect(), await connect('/')];
  first.start(SESSION, 'review-and-commit');
  const begun = await second.until('recipe_step_started');
  assert.deepEqual(types(begun), ['recipe_started', 'recipe_step_started']);
  second.start(SESSION, 'review-and-commit');
  const [locked, error] = [await second.next(), await second.next()];
  assert.deepEqual([locked.type, locked.session_id], ['session_locked', SESSION]);
  assert.deepEqual([error.type, error.session_id], ['error', SESSION]);
  await eventually('the agent works', () => user.read('pid') !== '');
  user.write('go', '');
  const seen = await second.until('turn_complete');
  const own = (await first.until('turn_complete')).filter(({ type }) => type !== 'ack');
  assert.deepEqual(own, [...begun, ...seen]);
});

walk('a client without the key is refused', async (user) => {
  const phone = await Phone.open(user);
  phone.send({ type: 'connect', api_key: `untethered-${'0'.repeat(32)}` });
  assert.equal((await phone.next()).type, 'auth_error');
  assert.deepEqual(await phone.next(), { closed: 1000 });
});
