import { afterAll, beforeAll, expect, test } from 'vitest';
import { addStats } from '../../../engine/src/observe/stats/stats.sql.ts';
import { expireStats } from '../../../engine/src/cluster/retention/delete-expired.sql.ts';
import { noStats } from '../../../engine/src/events/stat-meter.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeWorkflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ countsEveryMs: 250 });
});
afterAll(() => hw.stop());

const ORDERS = `export default {
  name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
  async run({ body }) {
    for (let i = 0; i < body.emits; i++) this.$emit({ i });
    if (body.fails) throw new Error('no');
  },
};`;
const LISTENER = `export default { name: 'Listener', version: '1.0.0', async run() {} };`;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

async function totals(
  api: Headwater['api'],
  parameters: Record<string, unknown> = {},
): Promise<Record<string, number>> {
  return (await api('GET', '/stats', parameters)).data.totals;
}

test('known traffic is counted exactly for the account, each source and the webhook, and for no other account', async () => {
  const other = await hw.admin('POST', '/accounts', { name: 'Other' });
  const receiver = await startReceiver();
  const source = await hw.deploy(ORDERS);
  const listener = await hw.deploy(LISTENER);
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url, name: 'Shop' });
  for (const id of [listener.id, webhook.id])
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  receiver.script({ status: 500 });
  for (const body of [{ emits: 3 }, { emits: 2 }, { emits: 1, fails: true }]) await post(source.endpoint, body);
  await hw.api('POST', `/sources/${source.id}/run`, { event: { body: { emits: 0 } } });
  await eventually(async () => (await totals(hw.api))['delivered'] === 6 && (await totals(hw.api))['received'] === 10, {
    timeoutMs: 60_000,
  });
  const zero = { received: 0, emitted: 0, runs_ok: 0, runs_failed: 0, delivered: 0, failed_attempts: 0, exhausted: 0 };
  const ofSource = {
    received: 4,
    emitted: 6,
    runs_ok: 3,
    runs_failed: 1,
    delivered: 6,
    failed_attempts: 1,
    exhausted: 0,
  };
  expect(await totals(hw.api, { emitter_id: source.id })).toEqual(ofSource);
  expect(await totals(hw.api, { emitter_id: listener.id })).toEqual({ ...zero, received: 6, runs_ok: 6 });
  expect(await totals(hw.api, { webhook_id: webhook.id })).toEqual({ ...zero, delivered: 6, failed_attempts: 1 });
  expect(await totals(hw.api)).toEqual({ ...ofSource, received: 10, runs_ok: 9 });
  // Sums by minute, hour and day are equal, and so are those of the buckets.
  for (const step of [60, 300, 3600, 86_400]) {
    const { data } = await hw.api('GET', '/stats', { step });
    expect(data.totals).toEqual({ ...ofSource, received: 10, runs_ok: 9 });
    const sum = data.buckets.reduce((all: number, { received }: { received: number }) => all + received, 0);
    expect(sum).toBe(10);
    expect(data.buckets.every(({ at }: { at: number }) => at % (step * 1000) === 0)).toBe(true);
  }
  const emitters = (await hw.api('GET', '/stats/emitters')).data.subjects;
  expect(emitters.map(({ id }: { id: string }) => id)).toEqual([source.id, listener.id]);
  expect(emitters[0].failures.reduce((a: number, b: number) => a + b)).toBe(1);
  // Bucket by bucket a list says of each what its own series says.
  const [since, until] = [Date.now() - 3_600_000, Date.now()];
  for (const step of [60, 300, 3600]) {
    const range = { since, until, step };
    const [first] = (await hw.api('GET', '/stats/emitters', { ...range, limit: 1 })).data.subjects;
    const { data: series } = await hw.api('GET', '/stats', { ...range, emitter_id: source.id });
    type Bucket = Record<'received' | 'runs_failed', number>;
    expect(first).toMatchObject({
      id: source.id,
      totals: series.totals,
      activity: series.buckets.map(({ received }: Bucket) => received),
      failures: series.buckets.map(({ runs_failed: failed }: Bucket) => failed),
    });
  }
  expect((await hw.api('GET', '/stats/webhooks')).data.subjects).toMatchObject([
    { id: webhook.id, type: 'webhook', name: 'Shop', totals: { delivered: 6 } },
  ]);
  const theirs = hw.as(other.data.api_key);
  expect(await totals(theirs)).toEqual(zero);
  expect((await theirs('GET', '/stats/emitters')).data.subjects).toEqual([]);
  for (const subject of [{ emitter_id: source.id }, { webhook_id: webhook.id }])
    expect((await theirs('GET', '/stats', subject)).status).toBe(404);
  await receiver.stop();
}, 120_000);

test('ends and events of workflows are counted', async () => {
  const make = (run: string) =>
    makeWorkflow(hw, { triggers: [{ type: 'http' }], steps: [{ namespace: 'one', component_code: action(run) }] });
  const workflow = await make('$.send.emit({ ok: 1 });');
  const failing = await make(`throw new Error('no');`);
  for (const { triggers } of [workflow, workflow, failing]) await post(triggers[0].endpoint_url, {});
  const ended = async (id: string) => {
    const of = await totals(hw.api, { emitter_id: id });
    return (of['runs_ok'] ?? 0) + (of['runs_failed'] ?? 0);
  };
  await eventually(async () => (await ended(workflow.id)) === 2 && (await ended(failing.id)) === 1, {
    timeoutMs: 60_000,
  });
  expect(await totals(hw.api, { emitter_id: workflow.id })).toMatchObject({ received: 2, emitted: 2, runs_ok: 2 });
  expect(await totals(hw.api, { emitter_id: failing.id })).toMatchObject({ received: 1, emitted: 0, runs_failed: 1 });
}, 120_000);

test('a range is answered in whole buckets, and a wrong one is refused with the mistake', async () => {
  const now = Date.now();
  const read = (parameters: Record<string, unknown>) => hw.api('GET', '/stats', parameters);
  const hour = (await read({})).data;
  expect(hour.step).toBe(60);
  expect(hour.buckets.length).toBeGreaterThanOrEqual(60);
  expect((await read({ since: now - 24 * HOUR_MS })).data.step).toBe(300);
  expect((await read({ since: now - 7 * 24 * HOUR_MS })).data.step).toBe(3600);
  expect((await read({ since: now - 30 * 24 * HOUR_MS })).data.step).toBe(86_400);
  // An hour of last week is there by hour alone.
  expect((await read({ since: now - 50 * HOUR_MS, until: now - 49 * HOUR_MS })).data.step).toBe(3600);
  for (const [parameters, path] of [
    [{ since: now, until: now - 1 }, 'since'],
    [{ step: 90 }, 'step'],
    [{ step: 7 * 60 }, 'step'],
    [{ step: 0 }, 'step'],
    [{ step: 60, since: now - 26 * HOUR_MS }, 'step'],
    [{ since: 0, step: 3600 }, 'step'],
    [{ since: 'yesterday' }, 'since'],
    [{ emitter_id: 'dc_x', webhook_id: 'wh_x' }, 'webhook_id'],
  ] as const) {
    const { status, text } = await read(parameters);
    expect([status, (JSON.parse(text) as { errors: { path: string }[] }).errors[0]?.path]).toEqual([400, path]);
  }
  expect((await read({ emitter_id: 'dc_none' })).status).toBe(404);
});

test('one that did something in the range is found behind many that did more in the rest of its hour', async () => {
  const tenant = await hw.newAccount();
  const make = async (name: string) =>
    (await tenant.api('POST', '/sources', { kind: 'ingest', name })).data.id as string;
  const late = await make('Late');
  const early = await Promise.all(Array.from({ length: 21 }, (_, i) => make(`Early ${i}`)));
  const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
  const failed = (subjectId: string, minute: number, runsFailed: number) => ({
    accountId: tenant.accountId,
    subjectId,
    beganMs: hourMs + minute * MINUTE_MS,
    counts: { ...noStats(), runsFailed },
  });
  await addStats(hw.sql, [failed(late, 30, 1), ...early.map((id) => failed(id, 5, 3))]);
  const range = { since: hourMs + 20 * MINUTE_MS, until: hourMs + 40 * MINUTE_MS, step: 60, limit: 1 };
  const { data } = await tenant.api('GET', '/stats/emitters', range);
  expect(data.subjects).toMatchObject([{ id: late, totals: { runs_failed: 1 } }]);
  await tenant.stop();
});

test('counters by minute go after a day, those by hour with the history of their account', async () => {
  const { sql, accountId } = hw;
  const nowMs = Date.UTC(2026, 0, 10, 12);
  const at = (hoursAgo: number) => ({
    accountId,
    subjectId: 'dc_old',
    beganMs: nowMs - hoursAgo * HOUR_MS,
    counts: { ...noStats(), received: 1 },
  });
  await addStats(sql, [at(0), at(26), at(26), at(80)]);
  const kept = async () => {
    const rows = await sql<{ step: number; ms: number; received: number }[]>`
      select step_seconds as step, began_ms as ms, received from stats where subject_id = 'dc_old' and step_seconds < 86400 order by 1, 2`;
    return rows.map(({ step, ms, received }) => [step, (nowMs - ms) / HOUR_MS, received]);
  };
  await expireStats(sql, [{ id: accountId, beforeMs: 0 }], nowMs);
  expect(await kept()).toEqual([
    [60, 0, 1],
    [3600, 80, 1],
    [3600, 26, 2],
    [3600, 0, 1],
  ]);
  await expireStats(sql, [{ id: accountId, beforeMs: nowMs - 48 * HOUR_MS }], nowMs);
  expect((await kept()).filter(([step]) => step === 3600)).toEqual([
    [3600, 26, 2],
    [3600, 0, 1],
  ]);
  await expireStats(sql, [{ id: accountId, beforeMs: nowMs + MINUTE_MS }], nowMs);
  expect((await kept()).filter(([step]) => step === 60)).toEqual([]);
  await expireStats(sql, [{ id: accountId, beforeMs: nowMs + 48 * HOUR_MS }], nowMs);
  expect(await sql`select from stats where subject_id = 'dc_old'`).toHaveLength(0);
});
