// tenancy: A workflow with the neighbour's component, source, workflow, data store, account, step, trigger and sealed secret.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';
import { ECHO, echo } from '../../support/workflow-steps.ts';

const world = hostile();

const USES = `export default { name: 'Uses', version: '1', type: 'action', props: { store: 'data_store' }, run() {} };`;

it('is refused as if nobody had them, and the neighbour’s are as they were', async () => {
  const { attacker, neighbour, sql } = world;
  const source = await neighbour.deploy(OWNED);
  const store = (await neighbour.api('POST', '/data_stores', { name: 'Theirs' })).body.data;
  const theirs = (
    await neighbour.api('POST', '/workflows', {
      triggers: [{ type: 'http' }],
      steps: [echo('a', { token: 'of-the-neighbour' })],
    })
  ).body.data;
  const own = (await attacker.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps: [echo('a')] })).body
    .data;
  const [row] = await sql`
    select steps -> 0 -> 'configuredProps' -> 'token' as sealed from deployments where id = ${theirs.deployment_id}`;
  await world.unharmed(async () => {
    for (const input of [
      { steps: [{ namespace: 'a', component_id: theirs.steps[0].component_id }] },
      { triggers: [{ source_id: source.id }] },
      { triggers: [{ source_id: theirs.id }] },
      { triggers: [{ source_id: 'dc_*' }] },
      { steps: [{ namespace: 'a', component_code: USES, props: { store: store.id } }] },
      { steps: [{ namespace: 'a', component_code: ECHO, props: { token: row?.['sealed'] } }] },
    ]) {
      const made = await attacker.api('POST', '/workflows', input);
      expect([JSON.stringify(input).slice(0, 80), [400, 404].includes(made.status)]).toEqual([expect.anything(), true]);
    }
    for (const input of [
      { steps: [{ id: theirs.steps[0].id, namespace: 'a' }] },
      { triggers: [{ type: 'http', id: theirs.triggers[0].id }] },
    ])
      expect((await attacker.api('PUT', `/workflows/${own.id}`, input)).status).toBe(400);
    // A new workflow takes no ids: neither a URL nor a step of others becomes its own.
    const copied = await attacker.api('POST', '/workflows', {
      triggers: theirs.triggers,
      steps: [{ ...echo('a'), id: theirs.steps[0].id }],
    });
    expect(copied.status).toBe(400);
  });
  const after = await neighbour.api('GET', `/workflows/${theirs.id}`);
  expect(after.body.data).toEqual(theirs);
  expect(await sql`select from subscriptions where emitter_id = ${source.id}`).toHaveLength(0);
});
