// tenancy: Telling from its answers whether an endpoint exists, is stopped or was deleted.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { comparable, OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('unknown, stopped and deleted are one answer, and a key has far too many values to try', async () => {
  const { neighbour, server } = world;
  const [stopped, deleted] = await Promise.all([neighbour.deploy(OWNED), neighbour.deploy(OWNED)]);
  await neighbour.api('PUT', `/sources/${stopped.id}`, { active: false });
  await neighbour.api('DELETE', `/sources/${deleted.id}`);
  const key = stopped.endpoint.split('/').at(-1) ?? '';
  // Base 62: 20 characters are 119 bits.
  expect(key).toMatch(/^[0-9A-Za-z]{20,}$/);
  const guesses = ['z'.repeat(key.length), key.slice(0, -1), `${key}0`, key.toLowerCase(), '%00', '..%2f..%2fv1', '*'];
  const answers = await world.unharmed(() =>
    Promise.all(
      [stopped.endpoint, deleted.endpoint, ...guesses.map((guess) => `${server.url}/e/${guess}`)].map(async (url) => {
        const answer = await fetch(url, { method: 'POST', body: '{}' });
        return JSON.stringify(comparable({ status: answer.status, text: await answer.text() }, key));
      }),
    ),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('"status":404');
});
