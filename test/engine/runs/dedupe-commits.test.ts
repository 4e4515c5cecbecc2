import { type DedupeStrategy, newId } from '@headwater/shared';
import { fc } from '../../support/properties.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { findDifference, type ModelEvent } from '../../support/dedupe-model.ts';

let test: TestDatabase;
let other: Database;
const accountId = newId('account');

beforeAll(async () => {
  test = await createTestDatabase();
  other = openDatabase({ url: test.url });
  await test.db.sql`insert into accounts (id, name) values (${accountId}, 'Test')`;
});
afterAll(async () => {
  await other.close();
  await test.drop();
});

/** One run: its node of two, its commit, and its events. */
const run = (id: fc.Arbitrary<string>, ts: fc.Arbitrary<number | undefined>) =>
  fc.record({
    node: fc.nat(1),
    commit: fc.nat(2),
    events: fc.array(fc.record({ id, ts }), { minLength: 1, maxLength: 6 }),
  });

const none = fc.constant(undefined);
const small = fc.nat(9).map(String);

it.each<[DedupeStrategy, string, fc.Arbitrary<string>, fc.Arbitrary<number | undefined>]>([
  ['unique', '', small, none],
  ['greatest', '', fc.bigInt(-40n, 40n).map((n) => String(n * 10n ** 20n)), none],
  ['last', ' without ts', small, none],
  ['last', ' with ts', small, fc.nat(20)],
])('concurrent runs on two nodes emit with %s%s the same as one after the other', async (strategy, _, id, ts) => {
  await fc.assert(
    fc.asyncProperty(fc.array(run(id, ts), { minLength: 2, maxLength: 12 }), async (runs) => {
      const { given, stored } = await commitAll(strategy, runs);
      expect(findDifference(strategy, given, stored)).toBeUndefined();
    }),
    { numRuns: 30 },
  );
});

type Run = { node: number; commit: number; events: readonly { id: string; ts: number | undefined }[] };

async function commitAll(strategy: DedupeStrategy, runs: readonly Run[]) {
  const sourceId = newId('source');
  const ids = runs.map(() => newId('invocation'));
  const nodeOf = ({ node }: Run) => `node_${node}`;
  await test.db.sql`insert into emitter_state (emitter_id, account_id) values (${sourceId}, ${accountId})`;
  await test.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    select id, ${accountId}, ${sourceId}, 'http', '{}', node
    from unnest(${ids}::text[], ${runs.map(nodeOf)}::text[]) as i(id, node)`;
  const given = new Map<string, readonly ModelEvent[]>();
  const commits = runs.map((one, i): { key: string; commit: RunCommit } => {
    const events = one.events.map(({ id, ts }) => ({ id, ...(ts === undefined ? {} : { ts }) }));
    given.set(ids[i] ?? '', events);
    const emits = events.map((event) => ({ ...event, data: '{}', emittedAtMs: 0 }));
    const invocation = { id: ids[i] ?? '', leasedBy: nodeOf(one), claim: 1 };
    const common = { accountId, sourceId, final: true, dedupe: strategy, dbWrites: new Map<string, string>() };
    return { key: `${one.node} ${one.commit}`, commit: { ...common, invocation, emits } };
  });
  await Promise.all(
    [...Map.groupBy(commits, ({ key }) => key)].map(([key, group]) =>
      commitRuns(
        key.startsWith('0') ? test.db.sql : other.sql,
        group.map(({ commit }) => commit),
        { nodeId: `node_${key[0]}`, deliveryCapacity: () => 0, runCapacity: () => 0, nowMs: Date.now },
      ),
    ),
  );
  const stored = await test.db.sql<{ run: string; id: string }[]>`
    select invocation_id as run, emit_id as id from events where emitter_id = ${sourceId} order by indexed_at_ms, seq`;
  return { given, stored };
}
