import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBundleHashes, readComponentBundle } from '../../../engine/src/components/bundles.sql.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
  await hw.limit({ maxRegistryVersions: 50 });
});
afterAll(() => hw?.stop());

const codeOf = (key: string) =>
  `export default { name: 'Of ${key}', key: '${key}', version: '1.0.0', run() { this.$emit('${key}'); } };`;

async function save(key: string): Promise<string> {
  const { status, data, text } = await hw.api('POST', '/components', { component_code: codeOf(key) });
  if (status !== 200) throw new Error(text);
  return data.id;
}

/** Bundle of a component as runs read it, and its hash as versions know it. */
const readBoth = async (id: string) => ({
  bundle: await readComponentBundle(hw.sql, id),
  hash: (await readBundleHashes(hw.sql, [id])).get(id),
});
const NOTHING = { bundle: undefined, hash: undefined };

test('a withdrawn version of the registry has no code for any account, under no hash', async () => {
  const id = await save('acme-gone');
  const { data } = await hw.api('POST', `/components/${id}/publish`, { scope: 'registry' });
  const { bundle, hash } = await readBoth(data.id);
  expect(bundle?.code).toContain('acme-gone');
  expect(hash).toBe(bundle?.hash);
  expect((await hw.api('POST', '/components/acme-gone/unpublish', { scope: 'registry' })).status).toBe(200);
  expect(await readBoth(data.id)).toEqual(NOTHING);
  // Those that were withdrawn earlier have their hash.
  const [row] = await hw.sql`
    select bundle_hash from registry_components where id = ${data.id}`;
  expect(row).toEqual({ bundle_hash: null });
  await hw.sql`update registry_components set bundle_hash = ${hash ?? ''} where id = ${data.id}`;
  expect(await readBoth(data.id)).toEqual(NOTHING);
  // The copy in the account is unchanged.
  expect(await readBoth(id)).toEqual({ bundle, hash });
});

test('a component that was deleted, or whose row has no code, has none under the hash of others', async () => {
  const id = await save('acme-deleted');
  const { data: source } = await hw.api('POST', '/sources', { component_id: id });
  await hw.api('DELETE', `/sources/${source.id}`);
  expect((await hw.api('DELETE', `/components/${id}`)).status).toBeLessThan(300);
  expect([...(await hw.sql`select deleted_at is not null as deleted from components where id = ${id}`)]).toEqual([
    { deleted: true },
  ]);
  expect(await readBoth(id)).toEqual(NOTHING);
  const emptied = await save('acme-emptied');
  await hw.sql`update components set bundle = '' where id = ${emptied}`;
  expect(await readComponentBundle(hw.sql, emptied)).toBeUndefined();
});

test('a component that is deleted while it is published in the registry is not found', async () => {
  const id = await save('acme-late');
  const { promise: mayGo, resolve: go } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
  // Another transaction is publishing.
  const other = hw.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(4815162345::bigint)`;
    held();
    await mayGo;
  });
  await isHeld;
  const publishing = hw.api('POST', `/components/${id}/publish`, { scope: 'registry' });
  try {
    await eventually(
      async () =>
        (
          await hw.sql`select from pg_locks where locktype = 'advisory' and not granted and database =
          (select oid from pg_database where datname = current_database())`
        ).length > 0,
      { what: 'the publication to wait' },
    );
    expect((await hw.api('DELETE', `/components/${id}`)).status).toBeLessThan(300);
  } finally {
    go();
  }
  await other;
  const { status, text } = await publishing;
  expect([status, JSON.parse(text).type]).toEqual([404, expect.stringMatching(/not-found$/)]);
  expect((await hw.api('GET', '/components/registry/acme-late')).status).toBe(404);
});
