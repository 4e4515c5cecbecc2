// tenancy: Tests of the neighbour's workflow, and of an own one with the neighbour's version, execution and event.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { comparable } from '../../support/hostile-tenancy.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

it('are answered as if there were none', async () => {
  const { attacker, neighbour, sql } = world;
  const theirs = await makeWorkflow(neighbour, { steps: ['$.send.emit({ secret: "theirs" }); return "theirs";'] });
  const own = await makeWorkflow(attacker, { steps: ['return steps.trigger.event;'] });
  await fetch(theirs.endpoint, { method: 'POST', body: '{}' });
  const execution = await eventually(async () => {
    const [row] = await sql<{ id: string }[]>`select id from executions where workflow_id = ${theirs.id}`;
    return row?.id;
  });
  const event = await eventually(async () => {
    const [row] = await sql<{ ms: string; seq: number }[]>`
      select indexed_at_ms::text as ms, seq from events where emitter_id = ${theirs.id} and channel = ''`;
    return row && `${theirs.id}-${row.ms}-${row.seq}`;
  });
  await world.unharmed(async () => {
    const ask = async (workflow: string, parameters: Record<string, string>, id: string) =>
      comparable(await attacker.api('POST', `/workflows/${workflow}/test`, parameters), id);
    const unknown = (id: string) => `${id.slice(0, -6)}zzzzzz`;
    const foreign = await ask(theirs.id, {}, theirs.id);
    expect(foreign).toMatchObject({ status: 404 });
    expect(foreign).toEqual(await ask(unknown(theirs.id), {}, unknown(theirs.id)));
    for (const [name, id] of [
      ['deployment_id', theirs.deploymentId],
      ['event_id', execution],
      ['event_id', event],
    ] as const) {
      const answer = await ask(own.id, { [name]: id }, id);
      expect([name, answer]).toMatchObject([name, { status: name === 'event_id' ? 400 : 404 }]);
      expect(answer).toEqual(await ask(own.id, { [name]: unknown(id) }, unknown(id)));
    }
  });
});
