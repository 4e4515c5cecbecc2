import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ComponentRecord } from '../../../engine/src/contract/components.ts';
import { collectFiles, type StoredFiles } from '../../../engine/src/registry/collect-files.ts';
import { askedVersions, pinPackages } from '../../../engine/src/registry/component-tree.ts';
import { readArchive } from '../../../engine/src/registry/read-archive.ts';
import { createImports, type ImportOptions, startImports } from '../../../engine/src/registry/imports.ts';
import { HeadwaterError, LIMITS } from '../../../shared/src/index.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { insertAccount } from '../../support/source-rows.ts';

type Lister = ImportOptions['builder']['listMissingFiles'];

const MAX_CODE = LIMITS.maxComponentCodeBytes;
/**
 * An import had the thread for 100 ms in one piece as it was started, and 86 ms every second after.
 */
const MAX_TURN_MS = 40;

let database: TestDatabase;
let accountId: string;
let stop: (() => Promise<void>) | undefined;

beforeEach(async () => {
  database = await createTestDatabase();
  accountId = await insertAccount(database.db.sql);
});
afterEach(async () => {
  await stop?.();
  stop = undefined;
  await database.drop();
});

/**
 * Works on imports with a builder that is only asked for the files of components; saving them is no
 * more than an answer.
 */
function work(listMissingFiles: Lister): void {
  const save = async (): Promise<ComponentRecord> => ({ id: 'sc_1', version: '1.0.0' }) as ComponentRecord;
  const unused = () => Promise.reject(new Error('drafts are not published'));
  const log = { error: () => undefined } as unknown as ImportOptions['log'];
  const others = { components: { publish: unused }, registry: { publish: unused }, log };
  stop = startImports({ sql: database.db.sql, ...others, saveFiles: save, builder: { listMissingFiles } });
}

const who = (account: string) => ({ accountId: account, userId: account });
const imports = () => createImports({ sql: database.db.sql });
const start = (files: Record<string, string>, account = accountId) =>
  imports().start(who(account), { scope: 'draft', files });

async function untilEnded(id: string, account = accountId) {
  const get = () => imports().get(who(account), id);
  await eventually(async () => (await get()).endedAt !== undefined, { what: 'the end of the import' });
  return (await get()).components.map(({ path, error }) => [path, error?.message ?? 'imported']);
}

const component = (filling = '') => `${filling}\nexport default { name: 'N', version: '1.0.0', run() {} };`;
const named = (count: number, filling: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`a/sources/s${n}/s${n}.mjs`, component(filling)]));
const noRoom = () => Promise.reject(new HeadwaterError('RATE_LIMITED', 'Too many builds'));

test('an import of as much as there may be never holds the thread for long', async () => {
  const line = '// "a name" as it is\n';
  const large = line.repeat(Math.floor((MAX_CODE - 100) / line.length));
  const startMs = await longestTurnMs(() => start({ ...named(900, ''), ...named(23, large) }));
  const turnMs = await longestTurnMs(async () => {
    let asked = 0;
    work(() => {
      asked++;
      return noRoom();
    });
    await eventually(() => asked > 0, { what: 'the first component' });
  });
  expect(Math.max(startMs, turnMs) / slowness()).toBeLessThan(MAX_TURN_MS);
});

test('an archive as large as it may be never holds the thread for long', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headwater-archive-'));
  writeFileSync(join(folder, 'huge.mjs'), Buffer.alloc(20 * MAX_CODE, 200));
  for (let n = 0; n < 20; n++) writeFileSync(join(folder, `${n}.mjs`), Buffer.alloc(MAX_CODE, 'é'));
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, '.'], { maxBuffer: MAX_CODE }).toString('base64');
  rmSync(folder, { recursive: true });
  let files: Record<string, string> = {};
  const turnMs = await longestTurnMs(async () => {
    files = await readArchive(archive);
    await sleep(5);
  });
  expect([Object.keys(files).length, files['huge.mjs']?.length]).toEqual([21, MAX_CODE + 1]);
  expect(turnMs / slowness()).toBeLessThan(MAX_TURN_MS);
});

test('imports whose builds find no room pause, those of others go on, and the attempt does not count', async () => {
  const { sql } = database.db;
  const other = await insertAccount(sql);
  const [first, second] = [await start(named(1, '')), await start(named(1, ''))];
  const theirs = await start(named(2, ''), other);
  let asked = 0;
  work(async (account) => {
    if (account === other) return [];
    asked++;
    return noRoom();
  });
  expect((await untilEnded(theirs.id, other)).length).toBe(2);
  const [row] = await sql`
    select sum(attempts)::int as attempts, count(leased_until)::int as resting,
      max(extract(epoch from leased_until - now()))::float8 as seconds
    from registry_imports i join registry_import_files f on f.import_id = i.id where i.account_id = ${accountId}`;
  expect(row).toEqual({ attempts: 0, resting: 1, seconds: expect.closeTo(LIMITS.importRestMs / 1_000, -1) });
  expect({ asked, first: first.total, second: second.total }).toEqual({ asked: 1, first: 1, second: 1 });
});

test('a component that has ended its node each time is given up, and those after it are imported', async () => {
  const { sql } = database.db;
  const { id } = await start(named(2, ''));
  await sql`update registry_import_files set attempts = ${LIMITS.maxImportAttempts} where path = 'a/sources/s0/s0.mjs'`;
  work(async () => []);
  expect(await untilEnded(id)).toEqual([
    ['a/sources/s0/s0.mjs', 'Importing it was begun 3 times and never ended; it is not begun again'],
    ['a/sources/s1/s1.mjs', 'imported'],
  ]);
  expect(await sql`select from registry_import_files`).toHaveLength(0);
});

test('a file larger than code may be is kept as its size, and fails where it is needed', async () => {
  const { id, total } = await start({
    'a/sources/big/big.mjs': ' '.repeat(MAX_CODE + 1),
    'a/common/big.mjs': ' '.repeat(MAX_CODE + 1),
    'a/sources/one/one.mjs': component(),
    'a/sources/two/two.mjs': component(),
  });
  const rows = await database.db.sql`select path, bytes from registry_import_files where text is null order by path`;
  expect([total, ...rows]).toEqual([
    3,
    { path: 'a/common/big.mjs', bytes: MAX_CODE + 1 },
    { path: 'a/sources/big/big.mjs', bytes: MAX_CODE + 1 },
  ]);
  work(async (_account, { entry }) =>
    entry.endsWith('two.mjs')
      ? [{ path: '../../common/big.mjs', importer: entry, candidates: ['a/\0', 'a/common/big.mjs'] }]
      : [],
  );
  const tooLarge = `The component has more than ${MAX_CODE} bytes`;
  expect(await untilEnded(id)).toEqual([
    ['a/sources/big/big.mjs', tooLarge],
    ['a/sources/one/one.mjs', 'imported'],
    ['a/sources/two/two.mjs', tooLarge],
  ]);
});

test('no more files of a component are read than it may have, nor more bytes', async () => {
  const read: string[] = [];
  const stored: StoredFiles = {
    sizes: async (paths) => new Map(paths.map((path) => [path, path.startsWith('big') ? MAX_CODE : 1])),
    read: async (paths) => {
      read.push(...paths);
      return new Map(paths.map((path) => [path, ' ']));
    },
    manifests: async () => [],
  };
  const collect = (names: string[]) =>
    collectFiles(stored, 'entry.mjs', async ({ entry }) =>
      names.map((path) => ({ path, importer: entry, candidates: [path] })),
    );
  const count = LIMITS.maxComponentFiles;
  await expect(collect(Array.from({ length: count }, (_, n) => `${n}.mjs`))).rejects.toMatchObject({
    code: 'INVALID_COMPONENT',
    limit: { name: 'maxComponentFiles', value: count, used: count + 1 },
  });
  await expect(collect(['big.mjs'])).rejects.toMatchObject({
    code: 'INVALID_COMPONENT',
    limit: { name: 'maxComponentCodeBytes', value: MAX_CODE, used: MAX_CODE + 1 },
  });
  expect(read).toEqual(['entry.mjs', 'entry.mjs']);
});

test('a refused import says which limit it went over', async () => {
  const refusal = (files: Record<string, string>) => start(files).catch((error: unknown) => error);
  const paths = (count: number, folder: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/${n}.mjs`, component()]));
  const { maxImportFiles, maxImportComponents, maxImportBytes } = LIMITS;
  expect(await refusal(paths(maxImportFiles + 1, 'a/common'))).toMatchObject({
    limit: { name: 'maxImportFiles', value: maxImportFiles, used: maxImportFiles + 1 },
  });
  expect(await refusal(paths(maxImportComponents + 1, 'a/sources'))).toMatchObject({
    limit: { name: 'maxImportComponents', value: maxImportComponents, used: maxImportComponents + 1 },
  });
  expect(await refusal({ 'a/sources/a.mjs': ' '.repeat(maxImportBytes + 1) })).toMatchObject({
    limit: { name: 'maxImportBytes', value: maxImportBytes, used: maxImportBytes + 1 },
  });
});

const repeated = (text: string) => text.repeat(Math.floor(MAX_CODE / text.length));

test.each([
  ['import and spaces', `import${' '.repeat(MAX_CODE)}`],
  ['import, a bracket and tabs', `import (${'\t'.repeat(MAX_CODE)}`],
  ['require and spaces on both sides', `require${' '.repeat(MAX_CODE / 2)}(${' '.repeat(MAX_CODE / 2)}`],
  ['from and spaces', `from${' '.repeat(MAX_CODE)}`],
  ['imports', repeated('import ')],
  ['imports with spaces', repeated(`import${' '.repeat(1_000)}`)],
  ['quotes', repeated('"')],
  ['quotes that nothing closes', repeated('from"')],
  ['a scope without end', `from"@${repeated('a')}`],
  ['a path without end', `from"@a${repeated('/a')}`],
  ['packages', repeated('from"a"')],
])('packages are pinned in a time that goes with the length: %s', async (_name, text) => {
  const versions = await askedVersions([`{"dependencies":{"a":"1${'.1'.repeat(20)}"}}`]);
  const before = process.threadCpuUsage();
  const turnMs = await longestTurnMs(async () => {
    await pinPackages(text, versions);
    // Wait, so that the last turn is measured too.
    await sleep(5);
  });
  const { user } = process.threadCpuUsage(before);
  expect(turnMs / slowness()).toBeLessThan(MAX_TURN_MS);
  expect(user / 1_000 / slowness()).toBeLessThan(1_000);
});
