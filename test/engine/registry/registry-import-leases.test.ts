import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createImports, startImports } from '../../../engine/src/registry/imports.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { beginComponent, uncountAttempt } from '../../../engine/src/registry/registry-import-files.sql.ts';
import {
  type ClaimedImport,
  claimImport,
  recordImported,
  releaseImport,
} from '../../../engine/src/registry/registry-imports.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { draftImports, savedAs } from '../../support/draft-imports.ts';
import { eventually } from '../../support/eventually.ts';
import { insertAccount } from '../../support/source-rows.ts';

/*
 * Leases of imports: a node that was not heard of in time does not change the work of another node.
 */

let database: TestDatabase;
let sql: Sql;
let who: { accountId: string; userId: string };
let stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
});
afterAll(() => database.drop());
beforeEach(async () => {
  const accountId = await insertAccount(sql);
  who = { accountId, userId: accountId };
});
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
  await sql`delete from registry_imports`;
});

const imports = () => createImports({ sql });
const code = `export default { name: 'N', version: '1.0.0', run() {} };`;
const FIRST = 'a/sources/a/a.mjs';
const start = async () =>
  (await imports().start(who, { scope: 'draft', files: { [FIRST]: code, 'a/sources/b/b.mjs': code } })).id;

async function claim(): Promise<ClaimedImport> {
  const claimed = await claimImport(sql, 600);
  if (claimed === undefined) throw new Error('no import waits');
  return claimed;
}

const expire = (id: string) =>
  sql`update registry_imports set leased_until = now() - interval '1 second' where id = ${id}`;

async function rows(id: string) {
  const [row] = await sql`select leased_until, ended_at from registry_imports where id = ${id}`;
  const files = await sql`select path, attempts from registry_import_files where import_id = ${id} order by path`;
  const results = await sql`select path, component_id from registry_import_results where import_id = ${id}`;
  return { ...row, files: [...files], results: [...results] };
}

test('a node that lost its lease of an import begins, records, releases and ends nothing', async () => {
  const id = await start();
  const late = await claim();
  expect(await beginComponent(sql, late)).toMatchObject({ path: FIRST, attempts: 1 });
  await expire(id);
  const holder = await claim();
  const before = await rows(id);
  expect(await beginComponent(sql, late)).toBeUndefined();
  await recordImported(sql, late, { path: FIRST, componentId: 'sc_late' });
  await releaseImport(sql, late, { kind: 'waits', restSeconds: 0 });
  await releaseImport(sql, late, { kind: 'ended' });
  expect(await rows(id)).toEqual(before);

  // A node takes back an attempt for a build without room, even if its lease is lost.
  expect(await beginComponent(sql, holder)).toMatchObject({ path: FIRST, attempts: 2 });
  await uncountAttempt(sql, { importId: late.id, path: FIRST, waitsForPackages: false });
  await recordImported(sql, holder, { path: FIRST, componentId: 'sc_new' });
  await releaseImport(sql, holder, { kind: 'waits', restSeconds: 0 });
  expect(await rows(id)).toMatchObject({
    ended_at: null,
    files: [
      { path: FIRST, attempts: 1 },
      { path: 'a/sources/b/b.mjs', attempts: 0 },
    ],
    results: [{ path: FIRST, component_id: 'sc_new' }],
  });
  await releaseImport(sql, await claim(), { kind: 'ended' });
  expect(await rows(id)).toMatchObject({ ended_at: expect.any(String), leased_until: null, files: [] });
});

test('a node records nothing for an import that another one has ended', async () => {
  const id = await start();
  const claimed = await claim();
  await releaseImport(sql, claimed, { kind: 'ended' });
  await recordImported(sql, claimed, { path: FIRST, componentId: 'sc_late' });
  expect((await rows(id)).results).toEqual([]);
});

/** A node whose builds return `componentId` and stall until they are released. */
function startNode(componentId: string): { letGo: () => void; asked: () => number } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const listMissingFiles = async () => {
    asked++;
    await promise;
    return [];
  };
  const stop = startImports(
    draftImports(sql, { saveFiles: async () => savedAs(componentId), builder: { listMissingFiles } }),
  );
  stops.push(() => {
    resolve();
    return stop();
  });
  return { letGo: resolve, asked: () => asked };
}

test('a node that goes on late leaves the import to the one that has it by now', async () => {
  const id = await start();
  const late = startNode('sc_late');
  await eventually(() => late.asked() === 1, { what: 'the first node' });
  await expire(id);
  const other = startNode('sc_new');
  await eventually(() => other.asked() === 1, { what: 'the other node' });
  const before = await rows(id);
  late.letGo();
  await stops.shift()?.();
  expect(await rows(id)).toEqual(before);

  other.letGo();
  await eventually(async () => (await imports().get(who, id)).endedAt !== undefined, { what: 'the end of the import' });
  const { components } = await imports().get(who, id);
  expect(components.map(({ componentId }) => componentId)).toEqual(['sc_new', 'sc_new']);
});
