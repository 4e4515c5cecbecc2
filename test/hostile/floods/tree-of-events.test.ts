// fairness: A source that hears itself and emits a hundred events for each: a tree that would take days.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the neighbour is served while it grows, and it ends with its source', async () => {
  const { attacker, sql } = world;
  const code = `export default { name: 'Tree', version: '1', run() { for (let i = 0; i < 100; i++) this.$emit(i); } };`;
  const tree = await attacker.deploy(code);
  await attacker.api('POST', '/subscriptions', { emitter_id: tree.id, listener_id: tree.id });
  const waiting = () => sql`select from invocations where source_id = ${tree.id}`;
  await world.unharmed(async () => {
    await attacker.api('POST', `/sources/${tree.id}/run`, {});
    await eventually(async () => (await waiting()).length > 2_000, { timeoutMs: 20_000 });
  });
  const deleted = await world.unharmed(() => attacker.api('DELETE', `/sources/${tree.id}`));
  expect(deleted.status).toBe(204);
  // Thousands of invocations are given up, in turn with commits of other tenants.
  await world.untilIdle(60_000);
  expect(await waiting()).toHaveLength(0);
});
