import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { insertCode } from '../../../engine/src/accounts/require-code-room.sql.ts';
import { ACCOUNT_LIMITS, type AccountLimitName, type HeadwaterError } from '../../../shared/src/index.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

afterEach(async () => {
  await hw.limit(Object.fromEntries(Object.keys(ACCOUNT_LIMITS).map((name) => [name, null])));
  await hw.sql`delete from emitters`;
  await hw.sql`delete from components`;
});

type Answer = Awaited<ReturnType<Headwater['api']>>;

function expectRefused(
  { status, text }: Answer,
  limit: { name: AccountLimitName; value: number; used?: number },
): void {
  const problem = JSON.parse(text) as { detail: string; limit?: object };
  expect({ status, limit: problem.limit }).toEqual({ status: 409, limit: { used: expect.any(Number), ...limit } });
  expect(problem.detail).toContain(limit.name);
}

let made = 0;
/** Each time another one; `bytes`: how long it is, at least. */
const sourceCode = (bytes = 0, more = '') =>
  `export default { name: 'S${++made}', version: '1', ${more} run() {}, x: '${'x'.repeat(bytes)}' };`;
const save = (code = sourceCode()) => hw.api('POST', '/components', { component_code: code });
const deploy = (code = sourceCode()) => hw.api('POST', '/sources', { component_code: code });
const steps = (body = `return ${++made};`) => [{ namespace: 'one', component_code: action(body) }];

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, data, text } = await answer;
  if (status !== 200) throw new Error(text);
  return data.id as string;
}

async function stored(): Promise<{ components: number; bytes: number }> {
  const [row] = await hw.sql<{ components: number; bytes: number }[]>`
    select count(*)::int as components,
      coalesce(sum(octet_length(code) + octet_length(bundle) + coalesce(octet_length(source_map), 0)
        + pg_column_size(configurable_props)), 0)::int as bytes
    from components where account_id = ${hw.accountId}`;
  return row ?? { components: 0, bytes: 0 };
}

/** As if everything had been saved two hours ago. */
const age = () => hw.sql`update components set updated_at = now() - interval '2 hours'`;

test('saves at the same time on several nodes store exactly as many components as the limit allows', async () => {
  // Straight to the database, as from nodes that know nothing of each other.
  const limits = { maxComponents: 3, maxCodeBytes: 1_000_000 };
  const insert = (n: number) =>
    insertCode(
      hw.sql,
      hw.accountId,
      limits,
      100,
      (tx) => tx`
      insert into components (id, account_id, name, version, type, code, code_hash, bundle, hooks, configurable_props)
      values (${`sc_${n}`}, ${hw.accountId}, 'c', '1', 'source', '', '', '', '{}', '[]')`,
    );
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => insert(n)));
  const errors = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as HeadwaterError] : [],
  );
  expect(errors.map(({ limit }) => limit)).toEqual(
    Array.from({ length: 17 }, () => ({ name: 'maxComponents', value: 3, used: 4 })),
  );
  expect((await stored()).components).toBe(3);
});

test('a deleted component frees its place', async () => {
  await hw.limit({ maxComponents: 1 });
  const id = await idOf(save());
  expectRefused(await save(), { name: 'maxComponents', value: 1, used: 2 });
  await hw.api('DELETE', `/components/${id}`);
  expect((await save()).status).toBe(200);
});

test('code has so many bytes together, with its bundles and source maps, however it comes', async () => {
  const source = await idOf(deploy());
  const workflow = await idOf(hw.api('POST', '/workflows', { steps: steps() }));
  const limit = (await stored()).bytes + 100_000;
  await hw.limit({ maxCodeBytes: limit });
  const large = sourceCode(60_000);
  const before = await stored();
  const name = 'maxCodeBytes';
  expectRefused(await save(large), { name, value: limit });
  expectRefused(await deploy(large), { name, value: limit });
  expectRefused(await hw.api('PUT', `/sources/${source}`, { component_code: large }), { name, value: limit });
  const step = steps(`return '${'x'.repeat(60_000)}';`);
  expectRefused(await hw.api('POST', '/workflows', { steps: step }), { name, value: limit });
  expectRefused(await hw.api('PUT', `/workflows/${workflow}`, { steps: step }), { name, value: limit });
  expect(await stored()).toEqual(before);
  expect((await hw.api('GET', '/sources/' + source)).data.active).toBe(true);
  expect((await save(sourceCode(20_000))).status).toBe(200);
  expect((await stored()).bytes).toBeLessThanOrEqual(limit);
});

test('exactly at the limit deployed code is changed, deployed again, stopped and deleted', async () => {
  const code = sourceCode(0, 'props: { n: { type: "integer", optional: true } },');
  const source = await idOf(deploy(code));
  await save(sourceCode(60_000));
  const step = steps();
  const workflow = await idOf(hw.api('POST', '/workflows', { steps: step }));
  const keyed = sourceCode(0, 'key: "keyed",');
  await save(keyed);
  const { components, bytes } = await stored();
  await hw.limit({ maxComponents: components, maxCodeBytes: bytes, maxSources: 1, maxWorkflows: 1 });
  for (const change of [
    { component_code: code },
    { configured_props: { n: 3 } },
    { name: 'Renamed' },
    { active: false },
    { active: true },
    { component_key: 'keyed' },
  ])
    expect({ change, ...(await hw.api('PUT', `/sources/${source}`, change)) }).toMatchObject({ status: 200 });
  expect((await save(keyed)).status).toBe(200);
  for (const change of [{ steps: step }, { name: 'Renamed' }, { active: false }, { settings: { concurrency: 2 } }])
    expect({ change, ...(await hw.api('PUT', `/workflows/${workflow}`, change)) }).toMatchObject({ status: 200 });
  expect((await hw.api('DELETE', `/sources/${source}`)).status).toBe(204);
  expect((await hw.api('DELETE', `/workflows/${workflow}`)).status).toBe(204);
});

test('code that no source runs makes room after a while, and code that is saved or runs stays', async () => {
  const [source, deleted] = [await idOf(deploy()), await idOf(deploy())];
  const saved = await idOf(save());
  const { component_id: old } = (await hw.api('GET', `/sources/${source}`)).data;
  await age();
  await hw.api('PUT', `/sources/${source}`, { component_code: sourceCode() });
  await hw.api('DELETE', `/sources/${deleted}`);
  const { components } = await stored();
  await hw.limit({ maxComponents: components });
  // A node that has not heard of the change may begin another run of it.
  expectRefused(await save(), { name: 'maxComponents', value: components });
  expect((await hw.api('GET', `/components/${old}`)).status).toBe(200);
  await age();
  expect((await save()).status).toBe(200);
  expect((await hw.api('GET', `/components/${old}`)).status).toBe(404);
  expect((await hw.api('GET', `/components/${saved}`)).status).toBe(200);
  expect((await save()).status).toBe(200);
  expectRefused(await save(), { name: 'maxComponents', value: components });
  expect((await hw.api('POST', `/sources/${source}/run`, {})).status).toBe(200);
  await hw.untilIdle();
});

test('copies from the registry count, and an account without room gets none', async () => {
  const { data } = await hw.api('GET', '/components/registry', { type: 'source', limit: 1 });
  const [{ key }] = data as [{ key: string }];
  const configure = () => hw.api('POST', `/components/${key}/props`, {});
  await hw.limit({ maxComponents: 0 });
  expectRefused(await configure(), { name: 'maxComponents', value: 0, used: 1 });
  await hw.limit({ maxComponents: 1, maxCodeBytes: 65_536 });
  await configure();
  expect((await stored()).components).toBe(1);
  expectRefused(await save(), { name: 'maxComponents', value: 1, used: 2 });
  // It is there by now.
  expect((await configure()).text).not.toContain('maxComponents');
});

test('an import tells of each component that had no room', async () => {
  await hw.limit({ maxComponents: 1 });
  const files = Object.fromEntries(
    ['one', 'two', 'three'].map((name) => [
      `app/sources/${name}/${name}.mjs`,
      sourceCode(0, `key: 'app-${name}', type: 'source', description: 'd',`),
    ]),
  );
  const id = await idOf(hw.api('POST', '/registry/import', { scope: 'draft', files }));
  await expect.poll(async () => (await hw.api('GET', `/registry/imports/${id}`)).data.ended_at).not.toBeNull();
  const { components } = (await hw.api('GET', `/registry/imports/${id}`)).data;
  const errors = components.flatMap(({ error }: { error: string | null }) => error ?? []);
  expect(errors).toEqual([expect.stringContaining('maxComponents'), expect.stringContaining('maxComponents')]);
  expect((await stored()).components).toBe(1);
});

test('props and versions of workflows have so many bytes together', async () => {
  const code = "export default { name: 'P', version: '1', props: { text: { type: 'string' } }, run() {} };";
  const component_id = await idOf(save(code));
  const noise = () =>
    Array.from({ length: 6_000 }, () => Math.random().toString(36))
      .join('')
      .slice(0, 60_000);
  const make = (text: string) => hw.api('POST', '/sources', { component_id, configured_props: { text } });
  await hw.limit({ maxConfigurationBytes: 100_000 });
  const source = await idOf(make('short'));
  expect((await make(noise())).status).toBe(200);
  const name = 'maxConfigurationBytes';
  expectRefused(await make(noise()), { name, value: 100_000 });
  const grow = (text: string) => hw.api('PUT', `/sources/${source}`, { configured_props: { text } });
  expectRefused(await grow(noise()), { name, value: 100_000 });
  expect((await grow('brief')).status).toBe(200);
  const workflow = await idOf(hw.api('POST', '/workflows', { steps: steps() }));
  const step = { namespace: 'one', component_code: action('return 1;', "text: { type: 'string' }") };
  const version = (text: string) => hw.api('PUT', `/workflows/${workflow}`, { steps: [{ ...step, props: { text } }] });
  expectRefused(await version(noise()), { name, value: 100_000 });
  expect((await version('short')).status).toBe(200);
});
