import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Events of a hundred kilobytes without end, each stored, until the disk would be full.
describe('history-without-end', () => {
  const world = hostile({ ownAccounts: true });
  const MAX = 1024 * 1024;
  const EVENTS = 20;

  const EMIT = `export default { name: 'Emit', version: '1', run() {
  for (let i = 0; i < ${EVENTS}; i++) this.$emit('x'.repeat(100_000));
} };`;

  it("the attacker's oldest events are deleted, and no events of the neighbour", async () => {
    const { attacker, neighbour, sql } = world;
    await world.limit({ maxHistoryBytes: MAX });
    const [flood, quiet] = [await attacker.deploy(EMIT), await neighbour.deploy(EMIT)];
    const eventsOf = (id: string) => sql<{ count: number; first: number }[]>`
    select count(*)::int4 as count, min(indexed_at_ms)::float8 as first from events where emitter_id = ${id}`;
    /** The newest minute, which is not cut off, with its count. */
    const newest = async () => {
      const [part] = await sql<{ began: number; bytes: number }[]>`
      select began_ms::float8 as began, bytes::float8 as bytes from history_parts where account_id = ${attacker.id}
      order by began_ms desc limit 1`;
      return part ?? { began: 0, bytes: 0 };
    };
    await neighbour.api('POST', `/sources/${quiet.id}/run`, {});
    await world.unharmed(async () => {
      const before = await newest();
      await world.run(flood.id);
      const isCounted = async () => {
        const { began, bytes } = await newest();
        return began > before.began || bytes > before.bytes;
      };
      await eventually(isCounted, { timeoutMs: 20_000, everyMs: 250 });
      // As if it had been two minutes ago.
      await sql`update history_parts set began_ms = began_ms - 120000 where account_id = ${attacker.id}`;
      await sql`update events set indexed_at_ms = indexed_at_ms - 120000 where emitter_id = ${flood.id}`;
      await world.run(flood.id);
      await eventually(async () => (await eventsOf(flood.id))[0]?.count === EVENTS, {
        timeoutMs: 40_000,
        everyMs: 250,
        what: 'the older events to be deleted',
      });
    });
    const [left] = await eventsOf(flood.id);
    const shown = (await attacker.api('GET', '/users/me/limits')).body.data.history;
    expect(shown.kept_from * 1000).toBeLessThanOrEqual(left?.first ?? 0);
    expect(shown.kept_from * 1000).toBeGreaterThan((left?.first ?? 0) - 120_000);
    expect((await eventsOf(quiet.id))[0]?.count).toBe(EVENTS);
    expect((await neighbour.api('GET', '/users/me/limits')).body.data.history.kept_from).toBeNull();
  });
});
