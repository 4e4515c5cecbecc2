import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askedVersions, pinPackages, readComponentTree } from '../../../engine/src/registry/component-tree.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw?.stop());

/**
 * An app with its file, two components that import it and what they share, and one that is broken.
 */
const TREE: Record<string, string> = {
  'components/acme/package.json': '{"dependencies":{"axios":"^1.2.0"}}',
  'components/acme/acme.app.mjs': `export default { type: 'app', app: 'http', methods: { word() { return 'of the app'; } } };`,
  'components/acme/common/base.mjs': `export default { dedupe: 'unique', methods: { twice: (n) => n * 2 } };`,
  'components/acme/sources/new-thing/new-thing.mjs': `import acme from '../../acme.app.mjs';
    import base from '../../common/base.mjs';
    import sample from './test-event.mjs';
    export default { ...base, name: 'New thing', key: 'acme-new-thing', version: '0.0.1', type: 'source', props: { acme },
      run() { this.$emit({ word: this.acme.word(), n: this.twice(21), sample }, { id: 1 }); } };`,
  'components/acme/sources/new-thing/test-event.mjs': `export default { a: 1 };`,
  'components/acme/sources/common/shared.mjs': `export default { name: 'Not a component', version: '1', run() {} };`,
  'components/acme/actions/do-it/do-it.ts': `import acme from '../../acme.app.mjs';
    export default { name: 'Do it', key: 'acme-do-it', version: '0.0.2', type: 'action' as const, props: { acme },
      async run({ $ }: { $: any }) { return 1; } };`,
  'components/acme/actions/broken/broken.mjs': `import gone from '../gone.mjs';
    export default { name: 'Broken', key: 'acme-broken', version: '0.0.1', type: 'action', run() { return gone; } };`,
  'components/acme/README.md': '# Acme',
};

async function importTree(parameters: Record<string, unknown>, api = hw.api) {
  const { status, data, text } = await api('POST', '/registry/import', parameters);
  if (status !== 200) throw new Error(text);
  return eventually(
    async () => {
      const answer = await api('GET', `/registry/imports/${data.id}`);
      return answer.data.status === 'done' && answer.data;
    },
    { what: 'the end of the import', timeoutMs: 60_000 },
  );
}

test('import: each component is saved and published with its files, and a failed one has its reason', async () => {
  const done = await importTree({ files: TREE });
  expect(done).toMatchObject({ total: 3, succeeded: 2, failed: 1, scope: 'account' });
  expect(done.components.map((entry: { path: string; key: string }) => [entry.path, entry.key])).toEqual([
    ['components/acme/actions/broken/broken.mjs', null],
    ['components/acme/actions/do-it/do-it.ts', 'acme-do-it'],
    ['components/acme/sources/new-thing/new-thing.mjs', 'acme-new-thing'],
  ]);
  expect(done.components[0].error).toContain('Cannot resolve "../gone.mjs"');
  const { data: saved } = await hw.api('GET', '/components/acme-do-it');
  expect([saved.id, saved.version, saved.published_at === null]).toEqual([
    done.components[1].component_id,
    '0.0.2',
    false,
  ]);
  const { data: source } = await hw.api('POST', '/sources', { component_key: 'acme-new-thing' });
  await hw.api('POST', `/sources/${source.id}/run`);
  expect((await hw.untilEvents(source.id, 1))[0]?.event).toEqual({ word: 'of the app', n: 42, sample: { a: 1 } });
});

test('import: the same tree again changes nothing, and changed code of a published version is refused', async () => {
  const first = await importTree({ files: TREE });
  const again = await importTree({ files: TREE });
  expect(again.components).toEqual(first.components);
  const name = 'components/acme/sources/new-thing/new-thing.mjs';
  const changed = await importTree({ files: { ...TREE, [name]: `${TREE[name]}\n// changed` } });
  expect(changed.components[2].error).toContain('a version never changes');
});

test.each(['account', 'registry'])(
  'import into the %s: the error for a component published as one file names the way out',
  async (scope) => {
    await hw.limit({ maxRegistryVersions: 50 });
    const component = (
      from: string,
    ) => `${from} export default { name: 'Part', key: 'onefile-${scope}', version: '0.0.1',
    type: 'action', run() { return part; } };`;
    const { data: saved } = await hw.api('POST', '/components', { component_code: component('const part = 1;') });
    expect((await hw.api('POST', `/components/${saved.id}/publish`, { scope })).status).toBe(200);
    const files = {
      'onefile/actions/part/part.mjs': component(`import part from './one.mjs';`),
      'onefile/actions/part/one.mjs': 'export default 1;',
    };
    const done = await importTree({ files, scope });
    const failed = done.components.find(({ error }: { error: string | null }) => error !== null);
    expect(failed.error).toMatch(/published as one file \(hw publish\).*leave it as it is/);
    if (scope === 'registry') return;
    expect(failed.error).toContain(`hw unpublish onefile-account@0.0.1`);
    await hw.api('POST', `/components/${saved.id}/unpublish`, { scope });
    const again = await importTree({ files, scope });
    expect(again.components.find(({ key }: { key: string }) => key === 'onefile-account').error).toBeNull();
  },
);

test('import: characters of names that a database refuses are left out of the error', async () => {
  const map = { version: 3, sources: ['a\0b.ts'], names: [], mappings: 'AAAA' };
  const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  // Names are cut to 200 characters, here within a surrogate pair.
  const prop = `${'a'.repeat(199)}🐎`;
  const done = await importTree({
    scope: 'draft',
    files: {
      'zoo/sources/pair/pair.mjs': `export default { name: 'A', key: 'zoo-pair', version: '1.0.0', run() {}, props: { ['${prop}']: { type: 'nothing' } } };`,
      'zoo/sources/map/map.mjs': `export default { name: 'A', key: 'zoo-map', version: '1.0.0', run() { } ) };\n${comment}`,
    },
  });
  const errors = done.components.map((entry: { path: string; errors: unknown }) => [entry.path, entry.errors]);
  expect(errors).toEqual([
    ['zoo/sources/map/map.mjs', expect.arrayContaining([expect.objectContaining({ file: 'ab.ts' })])],
    [
      'zoo/sources/pair/pair.mjs',
      expect.arrayContaining([expect.objectContaining({ path: `props.${'a'.repeat(199)}\uFFFD.type` })]),
    ],
  ]);
});

test('import: a gzipped tar archive', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'headwater-import-'));
  for (const [name, text] of Object.entries(TREE)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, 'components']).toString('base64');
  rmSync(folder, { recursive: true });
  expect(await importTree({ archive, scope: 'draft' })).toMatchObject({ total: 3, succeeded: 2, scope: 'draft' });
  const broken = await hw.api('POST', '/registry/import', { archive: 'bm90IGFuIGFyY2hpdmU=' });
  expect([broken.status, broken.text]).toEqual([400, expect.stringContaining('not a gzipped tar archive')]);
});

test('import: into the registry it takes the limit, and the keys of the registry', async () => {
  await hw.limit({ maxRegistryVersions: null });
  const files = { 'zoo/sources/a/a.mjs': `export default { name: 'A', key: 'zoo-a', version: '1.0.0', run() {} };` };
  const refused = await importTree({ files, scope: 'registry' });
  expect(refused.components[0].error).toContain('maxRegistryVersions');
  await hw.limit({ maxRegistryVersions: 5 });
  expect(await importTree({ files, scope: 'registry' })).toMatchObject({ succeeded: 1 });
  expect((await hw.api('GET', '/components/registry/zoo-a')).data.version).toBe('1.0.0');
});

test('import: a component has the packages of the package.json in its folder or above', async () => {
  const component = (key: string) =>
    `import 'no-such-pack'; export default { name: 'P', key: '${key}', version: '1.0.0', run() {} };`;
  const done = await importTree({
    scope: 'draft',
    files: {
      'package.json': '{"dependencies":{"no-such-pack":"1.0.0"}}',
      'b/package.json': '{"dependencies":{"no-such-pack":"2.0.0"}}',
      'a/sources/x/x.mjs': component('pack-x'),
      'b/sources/y/y.mjs': component('pack-y'),
    },
  });
  expect(done.components.map(({ error }: { error: string }) => error)).toEqual([
    expect.stringContaining('no-such-pack@1.0.0'),
    expect.stringContaining('no-such-pack@2.0.0'),
  ]);
});

test('import: an archive without a component is refused, and so are more imports than may wait', async () => {
  const empty = await hw.api('POST', '/registry/import', { files: { 'a/b.mjs': 'export default {}' } });
  expect([empty.status, empty.text]).toEqual([400, expect.stringContaining('No component')]);
  const neither = await hw.api('POST', '/registry/import', {});
  expect([neither.status, neither.text]).toEqual([400, expect.stringContaining('archive is required')]);
  const started = await Promise.all(
    Array.from({ length: 6 }, () => hw.api('POST', '/registry/import', { files: TREE, scope: 'draft' })),
  );
  expect(started.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1);
  expect(started.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4);
});

test('import: components are found by folder and text, helpers are not', async () => {
  const { files } = await readComponentTree(TREE);
  expect(files.flatMap(({ path: name, isComponent }) => (isComponent ? name : [])).toSorted()).toEqual([
    'components/acme/actions/broken/broken.mjs',
    'components/acme/actions/do-it/do-it.ts',
    'components/acme/sources/new-thing/new-thing.mjs',
  ]);
});

test('import: packages get the versions of the nearest package.json that names them', async () => {
  const versions = await askedVersions([
    '{"dependencies":{"axios":"^1.2.0","@scope/part":"~2.0.0"}}',
    'no JSON',
    '{"dependencies":{"lodash":"4.17.21","axios":"1.0.0","tagged":"next"}}',
  ]);
  const text = [
    `import axios from 'axios';`,
    `import part from "@scope/part/inner";`,
    `import { get } from 'lodash/get';`,
    `import 'tagged';`,
    `import fixed from 'axios@1.5.0';`,
    `import fs from 'fs';`,
    `import app from '../../acme.app.mjs';`,
    `const later = await import ( 'lodash');`,
  ].join('\n');
  expect((await pinPackages(text, versions)).split('\n')).toEqual([
    `import axios from 'axios@^1.2.0';`,
    `import part from "@scope/part@~2.0.0/inner";`,
    `import { get } from 'lodash@4.17.21/get';`,
    `import 'tagged';`,
    `import fixed from 'axios@1.5.0';`,
    `import fs from 'fs';`,
    `import app from '../../acme.app.mjs';`,
    `const later = await import ( 'lodash@4.17.21');`,
  ]);
});

test('import: accounts take turns', async () => {
  const { data: account } = await hw.admin('POST', '/accounts', { name: 'Other' });
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `many/sources/s${n}/s${n}.mjs`,
      `export default { name: 'S${n}', key: 'many-s${n}', version: '1.0.0', run() {} };`,
    ]),
  );
  await eventually(async () => (await hw.sql`select from registry_imports where ended_at is null`).length === 0, {
    timeoutMs: 60_000,
  });
  const { data: big } = await hw.api('POST', '/registry/import', { files: many, scope: 'draft' });
  const small = await importTree({ files: TREE, scope: 'draft' }, hw.as(account.api_key));
  const { data: meanwhile } = await hw.api('GET', `/registry/imports/${big.id}`);
  expect(small.succeeded).toBe(2);
  expect([meanwhile.status, meanwhile.total]).toEqual(['running', 300]);
});
