import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let test: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await insertAccount(test.db.sql);
  sourceId = await insertSource(test.db.sql, accountId);
});

/** Answers how many events it has stored. */
async function commit(ids: readonly string[], dbWrites: [string, string][] = []): Promise<number | undefined> {
  const run: RunCommit = {
    accountId,
    sourceId,
    final: true,
    dedupe: 'unique',
    emits: ids.map((id) => ({ id, data: '{}', emittedAtMs: 0 })),
    dbWrites: new Map(dbWrites),
  };
  const [committed] = await commitRuns(test.db.sql, [run], {
    nodeId: newId('node'),
    deliveryCapacity: () => 0,
    runCapacity: () => 0,
    nowMs: Date.now,
  });
  return committed?.events;
}

interface Stored {
  bytes: number;
  /** Highest id of a TOAST chunk; it changes only when the state is written again. */
  place: string;
  ids: string[];
}

async function stored(): Promise<Stored> {
  const { sql } = test.db;
  const [row] = await sql<Omit<Stored, 'place'>[]>`
    select octet_length(dedupe::text) as bytes, dedupe->'ids' as ids from emitter_state where emitter_id = ${sourceId}`;
  const [apart] = await sql<{ table: string }[]>`
    select reltoastrelid::regclass::text as "table" from pg_class where oid = 'emitter_state'::regclass`;
  const [last] = await sql.unsafe<{ place: string }[]>(
    `select max(chunk_id::text::int8)::text as place from ${apart?.table}`,
  );
  if (row === undefined || last === undefined) throw new Error('There is no state');
  return { ...row, ...last };
}

const LONG = Array.from({ length: 100 }, (_, n) => `${n} ${'"'.repeat(500)}`);

it('ids that a run repeats are not written again, and stay remembered', async () => {
  expect(await commit(LONG)).toBe(100);
  const first = await stored();
  expect(first.bytes).toBeLessThan(6_000);
  expect(first.place).toEqual(expect.any(String));
  expect(await commit(LONG)).toBe(0);
  expect(await stored()).toEqual(first);
  expect(await commit(['new', ...LONG.slice(1)])).toBe(1);
  const second = await stored();
  expect(second.place).not.toBe(first.place);
  expect(second.ids).toEqual([...first.ids.slice(1), 'new']);
});

it('a run without events leaves the memory of dedupe as it is', async () => {
  expect(await commit(LONG)).toBe(100);
  const before = await stored();
  expect(await commit([], [['key', '1']])).toBe(0);
  expect(await stored()).toEqual(before);
  expect(await commit(LONG)).toBe(0);
});

it('ids that were stored whole are known, and stored once more, short', async () => {
  const whole = JSON.stringify({ strategy: 'unique', ids: LONG });
  await test.db.sql`update emitter_state set dedupe = ${whole}::text::jsonb where emitter_id = ${sourceId}`;
  expect((await stored()).bytes).toBeGreaterThan(100_000);
  expect(await commit(LONG)).toBe(0);
  expect((await stored()).bytes).toBeLessThan(6_000);
  expect(await commit([...LONG, 'new'])).toBe(1);
});

it('a source that has no dedupe any more remembers nothing', async () => {
  await commit(LONG);
  const run = { accountId, sourceId, final: true, dedupe: undefined, dbWrites: new Map<string, string>() };
  await commitRuns(test.db.sql, [{ ...run, emits: [{ data: '{}', emittedAtMs: 0 }] }], {
    nodeId: newId('node'),
    deliveryCapacity: () => 0,
    runCapacity: () => 0,
    nowMs: Date.now,
  });
  const rows = await test.db.sql`select dedupe from emitter_state where emitter_id = ${sourceId}`;
  expect(rows).toEqual([{ dedupe: null }]);
});
