import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());
afterEach(() => hw.limit({ memoryMb: null }));

/**
 * Takes this many megabytes when it is loaded, and keeps them: in buffers, of which collecting
 * garbage takes no processor time.
 */
const holding = (megabytes: number) => `
  const kept = Array.from({ length: ${megabytes / 20} }, () => new Uint8Array(20 * 2 ** 20));
  export default { name: 'Large', version: '1', props: { http: '$.interface.http' }, run() { this.$emit(kept.length); } };`;

async function refusalOf(code: string): Promise<{ status: number; limit?: unknown; detail?: string }> {
  const { status, text } = await hw.api('POST', '/components', { component_code: code });
  return { ...(JSON.parse(text) as object), status };
}

test('a component that takes 200 MB when it is loaded is refused with the limit that held for its account', async () => {
  expect(await refusalOf(holding(200))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('the limit describeMemoryMb is 128 MB'),
    limit: { name: 'describeMemoryMb', value: 128, used: expect.any(Number) },
  });
  await hw.limit({ memoryMb: 160 });
  expect(await refusalOf(holding(200))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('the limit memoryMb is 160 MB'),
    limit: { name: 'memoryMb', value: 160, used: expect.any(Number) },
  });
});

test('an account with memoryMb 512 saves such a component, and runs it', async () => {
  await hw.limit({ memoryMb: 512 });
  const { id, endpoint } = await hw.deploy(holding(200));
  expect((await fetch(endpoint, { method: 'POST' })).status).toBe(200);
  const [stored] = await hw.untilEvents(id, 1);
  expect(stored?.event).toBe(10);
});

test('a component that says more of itself than the node reads is refused with that limit', async () => {
  const code = `export default { name: 'Long', version: '1', description: 'x'.repeat(2e6), run() {} };`;
  expect(await refusalOf(code)).toMatchObject({
    status: 400,
    limit: { name: 'maxOutlineChars', value: 1_048_576, used: expect.any(Number) },
  });
});

test('options and additional props beyond their limit are refused with it', async () => {
  const { data } = await hw.api('POST', '/components', {
    component_code: `export default { name: 'Form', version: '1', run() {},
      props: { n: { type: 'string', reloadProps: true, options: () => ['x'.repeat(2e6)] } },
      additionalProps: () => ({ more: { type: 'string', description: 'x'.repeat(300_000) } }) };`,
  });
  const options = await hw.api('POST', `/components/${data.id}/configure`, { prop_name: 'n' });
  const props = await hw.api('POST', `/components/${data.id}/props`, { configured_props: { n: 'a' } });
  expect([options.status, JSON.parse(options.text)]).toMatchObject([
    422,
    { limit: { name: 'maxPropOptionsBytes', value: 1_048_576, used: expect.any(Number) } },
  ]);
  expect([props.status, JSON.parse(props.text)]).toMatchObject([
    422,
    { limit: { name: 'maxDynamicPropsBytes', value: 262_144, used: expect.any(Number) } },
  ]);
});
