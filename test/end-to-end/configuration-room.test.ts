import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_LIMITS } from '../../shared/src/index.ts';
import { action } from '../support/executions.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

afterEach(async () => {
  await hw.limit(Object.fromEntries(Object.keys(ACCOUNT_LIMITS).map((name) => [name, null])));
  await hw.sql`delete from emitters`;
});

const LIMIT = 100_000;
const LIMIT_NAME = 'maxConfigurationBytes';
type Answer = Awaited<ReturnType<Headwater['api']>>;

function expectRefused({ status, text: problem }: Answer): void {
  const { limit } = JSON.parse(problem) as { limit?: object };
  expect({ status, limit }).toEqual({
    status: 409,
    limit: { name: LIMIT_NAME, value: LIMIT, used: expect.any(Number) },
  });
}

/** Repetitive, so that the database stores a hundredth of it. */
const text = (chars: number) => 'x'.repeat(chars);

const CODE = "export default { name: 'P', version: '1', props: { text: { type: 'string' } }, run() {} };";
const make = (chars: number) =>
  hw.api('POST', '/sources', { component_code: CODE, configured_props: { text: text(chars) } });
const grow = (id: string, chars: number) =>
  hw.api('PUT', `/sources/${id}`, { configured_props: { text: text(chars) } });

test('props count with the bytes of their text, however little the database makes of them', async () => {
  await hw.limit({ [LIMIT_NAME]: LIMIT });
  expect(await make(60_000)).toMatchObject({ status: 200 });
  expectRefused(await make(60_000));
  const { data } = await make(1_000);
  expectRefused(await grow(data.id, 60_000));
  expect(await grow(data.id, 20_000)).toMatchObject({ status: 200 });
  expect(await grow(data.id, 10)).toMatchObject({ status: 200 });
});

test('so do the steps of every version of a workflow', async () => {
  await hw.limit({ [LIMIT_NAME]: LIMIT });
  const steps = (chars: number) => [
    { namespace: 'one', component_code: action('return 1;', "text: { type: 'string' }"), props: { text: text(chars) } },
  ];
  const { data } = await hw.api('POST', '/workflows', { steps: steps(60_000) });
  const version = (chars: number) => hw.api('PUT', `/workflows/${data.id}`, { steps: steps(chars) });
  expectRefused(await version(50_000));
  expect(await version(10)).toMatchObject({ status: 200 });
});

const SLOW_CODE = `export default { name: 'Slow', version: '1', props: { text: 'string', url: 'string' },
  hooks: { async deactivate() { await fetch(this.url); } }, run() {} };`;

test('props that grow while a hook runs are counted again when they are stored', async () => {
  const receiver = await startReceiver();
  try {
    await hw.limit({ [LIMIT_NAME]: LIMIT });
    const { id } = await hw.deploy(SLOW_CODE, { text: 'short', url: receiver.url });
    receiver.script({ delayMs: 60_000 });
    const changing = grow(id, 60_000);
    await receiver.until(1);
    expect(await make(60_000)).toMatchObject({ status: 200 });
    // The hook fails and ends with that, which is passed over.
    await receiver.stop();
    expectRefused(await changing);
    const { data } = await hw.api('GET', `/sources/${id}`);
    expect(data.configured_props.text).toBe('short');
    // Recovery restores the source; then it can be changed again.
    await eventually(async () => (await grow(id, 10)).status === 200, { timeoutMs: 20_000, everyMs: 200 });
  } finally {
    await receiver.stop();
  }
});
