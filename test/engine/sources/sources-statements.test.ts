import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TimerSchedule } from '../../../engine/src/schedule/next-tick.ts';
import type { ChangeLease } from '../../../engine/src/db/change-lease.ts';
import { endSourceChange, putSourceChange, type SourceChange } from '../../../engine/src/sources/change-source.sql.ts';
import type { HttpProp } from '../../../engine/src/props/interfaces.ts';
import { createSource } from '../../../engine/src/sources/create-source.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

/* A component may have five hundred interfaces: the database is not asked once for each of them. */

const MANY = 500;
/** With those that begin and end the transaction. */
const A_FEW = 12;

let test: TestDatabase;
/** Its statements are counted. */
let counted: Sql;
let statements: string[] = [];
let lease: ChangeLease;
let change: SourceChange;

beforeAll(async () => {
  test = await createTestDatabase();
  counted = postgres(test.url, {
    max: 1,
    debug: (_connection, query) => void statements.push(query.trim()),
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  });
});
afterAll(async () => {
  await counted.end();
  await test.drop();
});

beforeEach(async () => {
  const { sql } = test.db;
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  lease = { accountId, sourceId, changeId: 'change_a', nodeId: 'node_a' };
  const [row] = await sql<{ component_id: string }[]>`select component_id from sources where id = ${sourceId}`;
  const componentId = row?.component_id ?? '';
  const name = { name: 's', nameSlug: sourceId, preflight: 'allow' as const, durability: 'stored' as const };
  change = { ...name, componentId, configuredProps: {}, dynamicProps: [], active: true, httpProps: [] };
});
afterEach(() => {
  statements = [];
});

async function putChange(httpProps: readonly HttpProp[]): Promise<string[]> {
  await test.db
    .sql`update sources set change_id = ${lease.changeId}, busy_by = ${lease.nodeId} where id = ${lease.sourceId}`;
  statements = [];
  await putSourceChange(counted, lease, { ...change, httpProps });
  return statements;
}

async function end(httpProps: readonly HttpProp[], schedules: readonly TimerSchedule[] = []): Promise<string[]> {
  await test.db
    .sql`update sources set change_id = ${lease.changeId}, busy_by = ${lease.nodeId} where id = ${lease.sourceId}`;
  const wanted = schedules.map((schedule, n) => ({ name: `timer${n}`, schedule }));
  statements = [];
  await endSourceChange(counted, lease, { httpProps, timers: wanted });
  return statements;
}

const httpProps = (length: number, customResponse = false) =>
  Array.from({ length }, (_, n) => ({ name: `http${n}`, customResponse }));

const schedules = (intervalSeconds: number, length = MANY): TimerSchedule[] =>
  Array.from({ length }, () => ({ intervalSeconds }));

/** Key and answer of each, by its prop. */
async function endpoints(): Promise<Map<string, { key: string; custom: boolean }>> {
  const rows = await test.db.sql<{ key: string; prop_name: string; custom_response: boolean }[]>`
    select key, prop_name, custom_response from endpoints where source_id = ${lease.sourceId}`;
  return new Map(rows.map((row) => [row.prop_name, { key: row.key, custom: row.custom_response }]));
}

interface TimerRow {
  prop_name: string;
  generation: number;
  interval_seconds: number | null;
  cron: string | null;
  anchor_ms: number;
  due_ms: number | null;
  /** When its job runs. */
  job_ms: number | null;
  job_generation: number | null;
}

async function timers(): Promise<TimerRow[]> {
  return test.db.sql<TimerRow[]>`
    select t.prop_name, t.generation, t.interval_seconds, t.cron, extract(epoch from t.anchor_at)::float8 * 1000 as anchor_ms,
      t.due_ms, extract(epoch from j.run_at)::float8 * 1000 as job_ms, (j.payload->>'generation')::int8 as job_generation
    from timers t left join graphile_worker._private_jobs j on j.key = 'timer:' || t.source_id || ':' || t.prop_name
    where t.source_id = ${lease.sourceId} order by t.prop_name`;
}

const writes = (all: readonly string[], table: string) =>
  all.filter((text) => new RegExp(`^(insert into|update|delete from) ${table}\\b`).test(text));

it('five hundred HTTP props are put in a few statements, each with a key of its own, which it keeps', async () => {
  expect((await putChange(httpProps(MANY))).length).toBeLessThanOrEqual(A_FEW);
  const made = await endpoints();
  expect(new Set([...made.values()].map(({ key }) => key)).size).toBe(MANY);

  expect((await putChange(httpProps(MANY, true))).length).toBeLessThanOrEqual(A_FEW);
  const changed = await endpoints();
  expect(changed).toEqual(new Map([...made].map(([name, { key }]) => [name, { key, custom: true }])));
});

it('unchanged HTTP props and timers cause no writes', async () => {
  const first = [...(await putChange(httpProps(MANY))), ...(await end(httpProps(MANY), schedules(60)))];
  expect(writes(first, 'endpoints')).toHaveLength(1);
  expect(writes(first, 'timers')).toHaveLength(1);
  const before = { endpoints: await endpoints(), timers: await timers() };
  const again = [...(await putChange(httpProps(MANY))), ...(await end(httpProps(MANY), schedules(60)))];
  expect(writes(again, 'endpoints')).toEqual([]);
  expect(writes(again, 'timers')).toEqual([]);
  expect({ endpoints: await endpoints(), timers: await timers() }).toEqual(before);
});

it('a renamed HTTP prop keeps its key, even if it answers differently from now on', async () => {
  await putChange(httpProps(3));
  const before = await endpoints();
  const renamed = [...httpProps(2), { name: 'other', customResponse: true }];
  await putChange(renamed);
  const after = await endpoints();
  expect([...after.keys()].toSorted()).toEqual(['http0', 'http1', 'other']);
  expect(after.get('other')).toEqual({ key: before.get('http2')?.key, custom: true });
  expect(after.get('http0')).toEqual(before.get('http0'));
});

it('two HTTP props that replace two others get new keys', async () => {
  await putChange(httpProps(3));
  const before = [...(await endpoints()).values()].map(({ key }) => key);
  await putChange([...httpProps(1), { name: 'a', customResponse: false }, { name: 'b', customResponse: false }]);
  const after = await endpoints();
  expect([...after.keys()].toSorted()).toEqual(['a', 'b', 'http0']);
  expect([...after.values()].filter(({ key }) => before.includes(key))).toEqual([after.get('http0')]);
});

it('a source is made with five hundred HTTP props in a few statements', async () => {
  const { accountId } = lease;
  const limits = { maxSources: 10, maxSubscriptions: 10, maxConfigurationBytes: 1_000_000 };
  const { componentId } = change;
  const busy = {
    lease: { changeId: 'change_b', nodeId: 'node_a', seconds: 60 },
    preflight: 'allow' as const,
    durability: 'stored' as const,
  };
  const made = { accountId, userId: accountId, componentId, name: 's', nameSlug: 's', dynamicProps: [] };
  const id = await createSource(counted, { ...made, ...busy, configuredProps: {}, httpProps: httpProps(MANY) }, limits);
  expect(statements.length).toBeLessThanOrEqual(2 * A_FEW);
  expect(await test.db.sql`select from endpoints where source_id = ${id}`).toHaveLength(MANY);
});

it('five hundred timers are set in a few statements, each with the job of its first tick', async () => {
  for (const seconds of [60, 61]) {
    expect((await end([], schedules(seconds))).length).toBeLessThanOrEqual(A_FEW);
    const set = await timers();
    expect(set).toHaveLength(MANY);
    expect(set.filter((row) => row.interval_seconds !== seconds)).toEqual([]);
    expect(set.filter((row) => row.due_ms !== Math.round(row.anchor_ms + seconds * 1000))).toEqual([]);
    expect(set.filter((row) => row.job_ms !== row.due_ms || row.job_generation !== row.generation)).toEqual([]);
    expect(new Set(set.map((row) => row.generation)).size).toBe(MANY);
  }
});

it('unchanged timers keep their phase, changed ones start anew, and the others end', async () => {
  await end([], [{ intervalSeconds: 60 }, { intervalSeconds: 60 }, { intervalSeconds: 60 }]);
  const [kept, changed] = await timers();
  await end([], [{ intervalSeconds: 60 }, { cron: '0 0 * * *', timezone: 'Asia/Kolkata' }]);
  const [first, second, ...more] = await timers();
  expect(more).toEqual([]);
  expect(first).toEqual(kept);
  expect(second).toMatchObject({ interval_seconds: null, cron: '0 0 * * *' });
  expect(second?.generation).toBeGreaterThan(changed?.generation ?? Infinity);
  expect(second?.anchor_ms).toBeGreaterThan(changed?.anchor_ms ?? Infinity);
  // Midnight there, which is half past six in the evening of UTC.
  expect((second?.due_ms ?? 0) % 86_400_000).toBe(18.5 * 3_600_000);
  expect(second?.job_ms).toBe(second?.due_ms);
  const jobs = await test.db.sql`
    select from graphile_worker._private_jobs where starts_with(key, ${`timer:${lease.sourceId}:`})`;
  expect(jobs).toHaveLength(2);
});
