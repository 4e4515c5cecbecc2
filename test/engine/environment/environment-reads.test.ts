import { expect, test } from 'vitest';
import { createOpenEnvironment } from '../../../engine/src/environment/open-environment.ts';
import { createKeptValues } from '../../../engine/src/environment/kept-values.ts';
import {
  putEnvironmentVariable,
  readEnvironmentValues,
} from '../../../engine/src/environment/environment-variables.sql.ts';
import { fixedKeys } from '../../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { accountDatabase } from '../../support/account-database.ts';

const world = accountDatabase();

const sealer = createSealer(fixedKeys([{ id: 'a1b2c3d4e5f6', key: Buffer.alloc(32, 7) }]));

async function put(name: string, value: string): Promise<string> {
  const { accountId, sql } = world;
  await putEnvironmentVariable(sql, { accountId, name, value: sealer.seal(accountId, value) }, 1_000);
  return name;
}

/** Counts opened values, which are the values read. */
function counted() {
  const opened: string[] = [];
  const counting = {
    open(account: string, sealed: string): string {
      const value = sealer.open(account, sealed);
      opened.push(value.slice(0, 20));
      return value;
    },
  };
  return { opened, environment: createOpenEnvironment({ sql: world.sql, sealer: counting }) };
}

test('variables that are more than a run may have are not read', async () => {
  const names: string[] = [];
  for (let i = 0; i < 20; i++) names.push(await put(`LARGE_${i}`, `${i}`.padEnd(60_000, 'v')));
  const { environment, opened } = counted();
  const limit = { name: 'maxRunSecretBytes', value: LIMITS.maxRunSecretBytes, used: 1_200_000 };
  await expect(environment.open(world.accountId, names)).rejects.toMatchObject({ code: 'RESOURCE_LIMIT', limit });
  expect(opened).toEqual([]);
  expect(await readEnvironmentValues(world.sql, world.accountId, names, 1_000_000)).toEqual({
    kind: 'too-large',
    bytes: expect.any(Number),
    count: 20,
  });
  expect(Object.keys(await environment.open(world.accountId, names.slice(0, 4)))).toHaveLength(4);
});

test('as many bytes as a run may have are read, in a few variables or in hundreds', async () => {
  const four = [];
  for (let i = 0; i < 4; i++) four.push(await put(`FULL_${i}`, 'é'.repeat(LIMITS.maxRunSecretBytes / 8)));
  const { environment } = counted();
  const values = await environment.open(world.accountId, four);
  expect(Buffer.byteLength(Object.values(values).join(''))).toBe(LIMITS.maxRunSecretBytes);
  const one = await put('ONE_MORE', 'x'.repeat(100));
  // The database knows sealed bytes, in which a few are lost.
  await expect(counted().environment.open(world.accountId, [...four, one])).rejects.toMatchObject({
    limit: { used: expect.closeTo(LIMITS.maxRunSecretBytes + 100, -1) },
  });
  const many = [];
  for (let i = 0; i < 300; i++) many.push(await put(`SMALL_${i}`, 'x'.repeat(LIMITS.maxRunSecretBytes / 512)));
  expect(Object.keys(await environment.open(world.accountId, many))).toHaveLength(300);
});

test('steps that need the same variables at the same time share one read', async () => {
  const names = [await put('SHARED_A', 'value of a'), await put('SHARED_B', 'value of b')];
  const { environment, opened } = counted();
  const runs = await Promise.all(Array.from({ length: 64 }, () => environment.open(world.accountId, names)));
  for (const values of runs) expect({ ...values }).toEqual({ SHARED_A: 'value of a', SHARED_B: 'value of b' });
  expect(opened).toEqual(['value of a', 'value of b']);
});

test('a step that begins after a change does not share an earlier read', async () => {
  const name = await put('CHANGED', 'value');
  const { environment, opened } = counted();
  const before = environment.open(world.accountId, [name]);
  environment.forget(world.accountId);
  const after = environment.open(world.accountId, [name]);
  for (const values of [await before, await after]) expect({ ...values }).toEqual({ CHANGED: 'value' });
  expect(opened).toHaveLength(2);
  // The value from the second read stays cached.
  await environment.open(world.accountId, [name]);
  expect(opened).toHaveLength(2);
});

test('a value that does not open is an error for each waiting run, and is read anew', async () => {
  const name = await put('BROKEN', 'value');
  let fails = true;
  const failing = {
    open(account: string, sealed: string): string {
      if (fails) throw new Error('It does not open');
      return sealer.open(account, sealed);
    },
  };
  const environment = createOpenEnvironment({ sql: world.sql, sealer: failing });
  const both = await Promise.allSettled([
    environment.open(world.accountId, [name]),
    environment.open(world.accountId, [name]),
  ]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect({ ...(await environment.open(world.accountId, [name])) }).toEqual({ BROKEN: 'value' });
});

test('when the values of all accounts are too large, the account with the most gives up its oldest', () => {
  const kept = createKeptValues(10_000);
  const large = 'x'.repeat(1_000);
  const names = (accountId: string) =>
    [...Array.from({ length: 9 }, (_, i) => `V${i}`), 'TOKEN', 'ALL'].filter((name) => kept.get(accountId, name));
  kept.keep('o_small', new Map([['TOKEN', 'the token']]));
  for (let i = 0; i < 9; i++) kept.keep('o_large', new Map([[`V${i}`, large]]));
  kept.keep('o_other', new Map([['TOKEN', large]]));
  expect(names('o_large')).toEqual(['V6', 'V7', 'V8']);
  expect(kept.get('o_small', 'TOKEN')).toBe('the token');
  expect(kept.get('o_other', 'TOKEN')).toBe(large);
  kept.keep('o_small', new Map([['ALL', 'x'.repeat(6_000)]]));
  expect(names('o_small')).toEqual([]);
  expect(names('o_large')).toEqual(['V6', 'V7', 'V8']);
  kept.forget('o_large');
  for (let i = 0; i < 3; i++) kept.keep('o_small', new Map([[`V${i}`, large]]));
  expect(names('o_small')).toEqual(['V0', 'V1', 'V2']);
  expect(names('o_other')).toEqual(['TOKEN']);
});
