import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let touched: string[] = [];

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());
afterEach(async () => {
  await hw.limit(Object.fromEntries(touched.map((name) => [name, null])));
  touched = [];
});

async function limit(limits: Parameters<Headwater['limit']>[0]): Promise<void> {
  touched.push(...Object.keys(limits));
  await hw.limit(limits);
}

const component = (run: string, more = '') => `
  export default { name: 'Limited', version: '1', props: { http: '$.interface.http', db: '$.service.db' }, ${more}
    async run(event) { ${run} } };`;

const runsOf = async (id: string) => (await hw.api('GET', `/sources/${id}/runs`)).data as RunAnswer[];

interface RunAnswer {
  status: string;
  error: { code: string; message: string; limit: { name: string; value: number; used: number } | null } | null;
}

/** Sends one request and answers the run's error once it is recorded. */
async function failureOf(source: { id: string; endpoint: string }): Promise<RunAnswer['error']> {
  const before = (await runsOf(source.id)).length;
  expect((await fetch(source.endpoint, { method: 'POST', body: 'x' })).status).toBe(200);
  const [run] = await eventually(async () => {
    const runs = await runsOf(source.id);
    return runs.length > before && runs;
  });
  return run?.error ?? null;
}

test.each([
  ['runCpuMs', 'CPU_LIMIT', 200, 'for (;;);'],
  ['httpRunWallMs', 'WALL_LIMIT', 1_000, 'await new Promise(() => setTimeout(() => 0, 30_000));'],
  ['memoryMb', 'MEMORY_LIMIT', 32, 'const kept = []; for (;;) kept.push(new Array(100_000).fill(Math.random()));'],
  ['maxEmitsPerRun', 'OUTPUT_LIMIT', 3, 'for (let i = 0; i < 4; i++) this.$emit({ i });'],
])('a run over %s ends with %s, naming the limit of its account and what was used', async (name, code, value, run) => {
  const source = await hw.deploy(component(run));
  await limit({ [name]: value });
  const error = await failureOf(source);
  expect(error).toMatchObject({ code, limit: { name, value } });
  expect(error?.limit?.used).toBeGreaterThanOrEqual(value);
});

test('a limit that is raised holds for the next run, on a warm isolate too', async () => {
  const source = await hw.deploy(component('for (let i = 0; i < 4; i++) this.$emit(i);'));
  await limit({ maxEmitsPerRun: 2 });
  expect(await failureOf(source)).toMatchObject({ limit: { name: 'maxEmitsPerRun', value: 2 } });
  await limit({ maxEmitsPerRun: 4 });
  await fetch(source.endpoint, { method: 'POST' });
  await eventually(async () => (await hw.untilEvents(source.id, 1)).some(({ event }) => event === 3));
});

test("a hook keeps to the wall time of hooks, and the deployer's error names the limit", async () => {
  await limit({ hookWallMs: 1_000 });
  const code = component('', 'hooks: { async deploy() { await new Promise((r) => setTimeout(r, 20_000)); } },');
  const answer = await hw.api('POST', '/sources', { component_code: code });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('hookWallMs');
  expect(JSON.parse(answer.text)).toMatchObject({ limit: { name: 'hookWallMs', value: 1_000 } });
});

test('a run over a limit tells it on $errors', async () => {
  const source = await hw.deploy(component('for (;;);'));
  await limit({ runCpuMs: 100 });
  const receiver = await startReceiver();
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id, event_name: '$errors' });
  const error = await failureOf(source);
  const [request] = await receiver.until(1);
  await receiver.stop();
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ error: { code: 'CPU_LIMIT', limit: error?.limit } });
});

test('runs that a limit ended are counted by its name alone', async () => {
  const source = await hw.deploy(component('for (;;);'));
  await limit({ runCpuMs: 100 });
  await failureOf(source);
  const metrics = await (await fetch(`${hw.url}/metrics`)).text();
  expect(metrics).toMatch(/headwater_runs_over_limit_total\{limit="runCpuMs"\} [1-9]/);
  expect(metrics).not.toContain(hw.accountId);
});

test('a component larger than its account may have is refused, with the limit', async () => {
  await limit({ maxBundleBytes: 65_536 });
  const code = component(`return '${'x'.repeat(70_000)}';`);
  const { status, text } = await hw.api('POST', '/components', { component_code: code });
  expect(status).toBe(400);
  const problem = JSON.parse(text) as { limit: { name: string; value: number; used: number } };
  expect(problem.limit).toMatchObject({ name: 'maxBundleBytes', value: 65_536 });
  expect(problem.limit.used).toBeGreaterThan(70_000);
});
