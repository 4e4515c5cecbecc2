// ingress: JSON nested fifty thousand levels deep, to an endpoint whose run fails, to the API and as a run's event.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const LEVELS = 50_000;
const FAILING = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' },
  run(event) { throw new Error('Not this'); } };`;
const DEEP = ['['.repeat(LEVELS) + ']'.repeat(LEVELS), '{"a":'.repeat(LEVELS) + '1' + '}'.repeat(LEVELS)];

it('the API refuses it by its depth; at an endpoint its run is recorded like any other', async () => {
  const { attacker, server } = world;
  const { id, endpoint } = await attacker.deploy(FAILING);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${attacker.key}` };
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const text of DEEP) {
        const body = `{"event":${text},"configured_props":${text}}`;
        for (const path of ['/sources', `/sources/${id}/run`]) {
          const answer = await fetch(`${server.url}/v1${path}`, { method: 'POST', headers, body });
          expect([path, answer.status]).toEqual([path, 400]);
        }
        const sent = await fetch(endpoint, { method: 'POST', headers, body: text });
        expect([text.length, sent.status]).toEqual([text.length, 200]);
      }
      await world.untilIdle();
    }),
  );
  const runs = (await attacker.api('GET', `/sources/${id}/runs`)).body.data as { error: { code: string } }[];
  expect(runs.slice(0, 2).map(({ error }) => error.code)).toEqual(['COMPONENT_ERROR', 'COMPONENT_ERROR']);
});
