// fairness: Steps that export, send and return megabytes of empty lists, and of empty texts beside a secret: half a second to parse or search.
import { expect, it } from 'vitest';
import { action } from '../../support/executions.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const BODIES = [
  `$.export('lists', Array(1_900_000).fill([]));`,
  `for (let i = 0; i < 5; i++) $.send.emit(Array(300_000).fill([]));`,
  `return [this.token, ...Array(300_000).fill('')];`,
];

it('are read in turns with others, and the neighbour is served meanwhile', async () => {
  const { attacker, sql } = world;
  const set = await attacker.api('PUT', '/environment_variables/TOKEN', { value: 'sk_live_0123456789' });
  expect(set.status).toBe(200);
  await world.unharmed(async () => {
    for (const body of BODIES) {
      const component_code = action(body, "token: { type: 'string' }");
      const steps = [{ namespace: 'lists', component_code, props: { token: '{{env.TOKEN}}' } }];
      const made = await attacker.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps });
      const { id, triggers } = made.body.data;
      await fetch(triggers[0].endpoint_url, { method: 'POST', body: '1' });
      const ended = () => sql<{ status: string; error: string | null }[]>`
        select status, error from executions where workflow_id = ${id} and ended_at is not null`;
      await eventually(async () => (await ended()).length > 0, { timeoutMs: 20_000, what: 'the execution to end' });
      expect(await ended()).toEqual([{ status: 'succeeded', error: null }]);
    }
  });
  const stored = await sql`
    select from execution_steps where account_id = ${attacker.id} and value like '%sk_live_0123456789%'`;
  expect(stored).toEqual([]);
});
