import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '@headwater/sandbox-runtime';
import { createAccounts } from '../../engine/src/accounts/accounts.ts';
import { createLimitsCache } from '../../engine/src/accounts/limits-cache.ts';
import { createComponents } from '../../engine/src/components/components.ts';
import type { Principal } from '../../engine/src/contract/engine.ts';
import { roomWith } from '../support/account-room.ts';
import { buildKitForFile } from '../support/build-kit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const kit = buildKitForFile();
const importing = (specifier: string) =>
  `import found from '${specifier}'; export default { name: found, version: '1', run() {} };`;

let database: TestDatabase;
let sandbox: Sandbox;
let components: ReturnType<typeof createComponents>;
let ada: Principal;
let ben: Principal;

beforeAll(async () => {
  [database, sandbox] = await Promise.all([createTestDatabase(), startSandbox()]);
  const limits = createLimitsCache({ read: async () => ({}) });
  const accounts = createAccounts({ db: database.db, limits, room: roomWith() });
  [ada, ben] = (await Promise.all(
    ['ada', 'ben'].map(async (name) => {
      const { account, user } = await accounts.create({ name });
      return { accountId: account.id, userId: user.id };
    }),
  )) as [Principal, Principal];
  components = createComponents({
    db: database.db,
    sandbox,
    builder: kit.builder(),
    room: roomWith(),
    fetch: () => Promise.resolve({ ok: false, message: 'not here' }),
    seeded: () => Promise.resolve(),
  });
  kit.registry.add({ name: 'part', version: '1.0.0' });
});
afterAll(async () => {
  await sandbox.stop();
  await database.drop();
});
beforeEach(() => database.db.sql`delete from components`);

/** Build time of a saved component's bundle, in epoch milliseconds. */
async function builtAtOf(who: Principal, specifier: string): Promise<number> {
  const { id } = await components.save(who, { componentCode: importing(specifier) });
  const [row] = await database.db.sql<{ at: number }[]>`
    select (extract(epoch from built_at) * 1000)::float8 as at from components where id = ${id}`;
  return row?.at ?? 0;
}

const makeOlder = (hours: number) =>
  database.db.sql`update components set built_at = built_at - ${hours}::int * interval '1 hour'`;

test('the same code is bundled once in an account', async () => {
  const first = await builtAtOf(ada, 'part');
  expect(await builtAtOf(ada, 'part')).toBe(first);
  expect(await builtAtOf(ben, 'part')).toBeGreaterThan(first);
  expect(await builtAtOf(ada, 'part@^1')).toBeGreaterThan(first);
});

test('after an hour it is bundled anew, to get newer versions of what it imports', async () => {
  const first = await builtAtOf(ada, 'part');
  await makeOlder(2);
  expect(await builtAtOf(ada, 'part')).toBeGreaterThan(first);
});

test('a bundle whose imports all name exact versions is used again for ever', async () => {
  const first = await builtAtOf(ada, 'part@1.0.0');
  await makeOlder(1000);
  expect(await builtAtOf(ada, 'part@1.0.0')).toBe(first - 1000 * 3_600_000);
});

test('two components that import each other, and a package, are each its own', async () => {
  const file = (name: string, other: string) =>
    `import part from 'part@1.0.0'; import other from './${other}.mjs';
    export default { name: '${name}', key: 'of-${name}', version: '1.0.0', other: () => other, run() { this.$emit(part); } };`;
  const files = { 'x.mjs': file('x', 'y'), 'y.mjs': file('y', 'x') };
  const [x, y, again] = [
    await components.saveFiles(ada, { entry: 'x.mjs', files }),
    await components.saveFiles(ada, { entry: 'y.mjs', files }),
    await components.saveFiles(ada, { entry: 'x.mjs', files }),
  ];
  expect([x.key, y.key]).toEqual(['of-x', 'of-y']);
  expect(x.codeHash).not.toBe(y.codeHash);
  expect(again.id).toBe(x.id);
});
