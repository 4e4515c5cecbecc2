import { HeadwaterError, LIMITS } from '@headwater/shared';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createImports, startImports } from '../../../engine/src/registry/imports.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { draftImports, savedAs } from '../../support/draft-imports.ts';
import { eventually } from '../../support/eventually.ts';
import { insertAccount } from '../../support/source-rows.ts';

/*
 * A registry of packages that does not work delays an import; what became of its components is not
 * decided by that.
 */

let database: TestDatabase;
let sql: Sql;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
});
afterAll(() => database.drop());
afterEach(async () => {
  await stop?.();
  await sql`delete from registry_imports`;
});

const files = Object.fromEntries(
  ['a', 'b'].map((name) => [`x/sources/${name}.mjs`, `export default { name: 'N', version: '1.0.0', run() {} };`]),
);
const noPackages = new HeadwaterError('UNAVAILABLE', 'No packages', { retryAfterSeconds: 10 });

/** An import of two components, on a node where the first has no packages while `isDown`. */
async function start() {
  const accountId = await insertAccount(sql);
  const who = { accountId, userId: accountId };
  const { id } = await createImports({ sql }).start(who, { scope: 'draft', files });
  const state = { isDown: true, saved: [] as string[] };
  stop = startImports(
    draftImports(sql, {
      saveFiles: async (_who, { entry }) => {
        state.saved.push(entry);
        if (state.isDown && entry.endsWith('a.mjs')) throw noPackages;
        return savedAs('sc_1');
      },
    }),
  );
  const read = () => createImports({ sql }).get(who, id);
  return {
    state,
    read,
    isOver: async () => (await read()).endedAt !== undefined,
    /** Ends the account's pause, as if `ms` had passed. */
    letPass: (ms: number) =>
      sql.begin(async (tx) => {
        await tx`update registry_imports set leased_until = null where id = ${id} and leased_until > now()`;
        await tx`update registry_import_files set waits_since = waits_since - make_interval(secs => ${ms / 1_000})`;
      }),
    waiting: () => sql`
      select path, attempts from registry_import_files f join registry_imports i on i.id = f.import_id
      where waits_since is not null and leased_until > now() + interval '5 seconds'`,
  };
}

test('a component that has no packages waits, its attempts do not count, and others are imported before it', async () => {
  const { state, read, isOver, letPass, waiting } = await start();
  for (let n = 0; n <= LIMITS.maxImportAttempts; n++) {
    await eventually(async () => (await waiting()).length > 0, { what: 'an account that rests' });
    expect([...(await waiting())]).toEqual([{ path: 'x/sources/a.mjs', attempts: 0 }]);
    await letPass(LIMITS.importRestMs);
    await eventually(async () => state.saved.length >= n + 3, { what: 'another attempt' });
    await eventually(async () => (await waiting()).length > 0, { what: 'an account that rests again' });
  }
  expect((await read()).components).toEqual([{ path: 'x/sources/b.mjs', componentId: 'sc_1', version: '1.0.0' }]);
  expect(state.saved.slice(0, 3)).toEqual(['x/sources/a.mjs', 'x/sources/b.mjs', 'x/sources/a.mjs']);
  state.isDown = false;
  await letPass(LIMITS.importRestMs);
  await eventually(isOver, { what: 'the end' });
  expect((await read()).components.map(({ componentId }) => componentId)).toEqual(['sc_1', 'sc_1']);
});

test('a component that has waited for as long as it may is told why', async () => {
  const { read, isOver, letPass, waiting } = await start();
  await eventually(async () => (await waiting()).length > 0, { what: 'an account that rests' });
  await letPass(LIMITS.importPatienceMs);
  await eventually(isOver, { what: 'the end' });
  expect((await read()).components[0]).toEqual({
    path: 'x/sources/a.mjs',
    error: { code: 'UNAVAILABLE', message: 'No packages', errors: [] },
  });
});
