import { LIMITS } from '@headwater/shared';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createImports, startImports } from '../../../engine/src/registry/imports.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { claimImport, extendImport } from '../../../engine/src/registry/registry-imports.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { draftImports } from '../../support/draft-imports.ts';
import { eventually } from '../../support/eventually.ts';
import { insertAccount } from '../../support/source-rows.ts';

/* An import waits for builds of its own account only. */

let database: TestDatabase;
let sql: Sql;
let stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
});
afterAll(() => database.drop());
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
  await sql`delete from registry_imports`;
});

const files = { 'a/sources/a/a.mjs': `export default { name: 'N', version: '1.0.0', run() {} };` };

async function start() {
  const accountId = await insertAccount(sql);
  const who = { accountId, userId: accountId };
  const { id } = await createImports({ sql }).start(who, { scope: 'draft', files });
  return { accountId, id, isOver: async () => (await createImports({ sql }).get(who, id)).endedAt !== undefined };
}

/** A node on which builds of all accounts wait until they are let go, but for those of `served`. */
function startNode(leaseSeconds?: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const served = new Set<string>();
  const listMissingFiles = async (accountId: string) => {
    asked.push(accountId);
    if (!served.has(accountId)) await promise;
    return [];
  };
  const lease = leaseSeconds === undefined ? {} : { leaseSeconds };
  const stop = startImports(draftImports(sql, { builder: { listMissingFiles }, ...lease }));
  stops.push(() => {
    resolve();
    return stop();
  });
  return { letGo: resolve, asked, served };
}

test('an import whose builds wait holds up those of no other account', async () => {
  const slow = await start();
  const node = startNode();
  await eventually(() => node.asked.includes(slow.accountId), { what: 'the import that waits' });
  const other = await start();
  node.served.add(other.accountId);
  await eventually(other.isOver, { what: 'the import of another account' });
  expect(await slow.isOver()).toBe(false);
  node.letGo();
  await eventually(slow.isOver, { what: 'the import that waited' });
});

test('a node works on as many at the same time as it may, one of each account', async () => {
  const all = await Promise.all(Array.from({ length: LIMITS.importsAtOnce + 2 }, start));
  const node = startNode();
  await eventually(() => node.asked.length >= LIMITS.importsAtOnce, { what: 'as many as may be' });
  const [again] = await sql`select now() + interval '3 seconds' as at`;
  await eventually(async () => (await sql`select where now() > ${again?.['at']}`).length > 0, { what: 'more looks' });
  expect(node.asked.length).toBe(LIMITS.importsAtOnce);
  node.letGo();
  for (const { isOver } of all) await eventually(isOver, { what: 'the end of each' });
  expect(new Set(node.asked).size).toBe(all.length);
});

test('a component that waits for longer than a lease is begun by no other node', async () => {
  const { id, isOver } = await start();
  const [first, other] = [startNode(2), startNode(2)];
  await eventually(() => first.asked.length + other.asked.length > 0, { what: 'the node that begins' });
  const isLeaseOver = async () =>
    (await sql`select from registry_imports where turn_at < now() - interval '4 seconds'`).length;
  await eventually(async () => (await isLeaseOver()) > 0, { what: 'twice as long as a lease' });
  expect(first.asked.length + other.asked.length).toBe(1);
  const rows = await sql`select attempts from registry_import_files where import_id = ${id}`;
  expect([...rows]).toEqual([{ attempts: 1 }]);
  first.letGo();
  other.letGo();
  await eventually(isOver, { what: 'its end' });
});

test('a node that lost its lease extends nothing', async () => {
  const { id } = await start();
  const late = await claimImport(sql, 1);
  await sql`update registry_imports set leased_until = now() - interval '1 second' where id = ${id}`;
  const holder = await claimImport(sql, 10);
  const leaseOf = async () =>
    (await sql`select leased_until from registry_imports where id = ${id}`)[0]?.['leased_until'];
  const before = await leaseOf();
  if (late === undefined || holder === undefined) throw new Error('no import waited');
  await extendImport(sql, late, 600);
  expect(await leaseOf()).toEqual(before);
  await extendImport(sql, holder, 600);
  expect(await leaseOf()).not.toEqual(before);
});
