// fairness: Four runs and four executions at once, each of which puts out megabytes.
import { expect, it } from 'vitest';
import { action } from '../../support/executions.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const EMIT = `export default { name: 'Large', version: '1', props: { http: '$.interface.http' },
  run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
const RUNS = 4;

it('are stored at a pace, whole', async () => {
  const { attacker, sql } = world;
  const source = await attacker.deploy(EMIT);
  const made = await attacker.api('POST', '/workflows', {
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'large', component_code: action(`return 'x'.repeat(5_000_000);`) }],
  });
  const { id, triggers } = made.body.data;
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    const urls = [source.endpoint, triggers[0].endpoint_url as string];
    const asked = urls.flatMap((url) => Array.from({ length: RUNS }, () => fetch(url, { method: 'POST', body: '1' })));
    for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
    await eventually(
      async () => {
        const events = await sql`select from events where emitter_id = ${source.id}`;
        const ended = await sql`select from executions where workflow_id = ${id} and status = 'succeeded'`;
        return events.length === 6 * RUNS * rounds && ended.length === RUNS * rounds;
      },
      { timeoutMs: 60_000, everyMs: 200, what: 'all of it to be stored' },
    );
  });
});
