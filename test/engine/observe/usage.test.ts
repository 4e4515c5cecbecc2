import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookAtHeld } from '../../../engine/src/observe/usage/watch-held.ts';
import { addStats } from '../../../engine/src/observe/stats/stats.sql.ts';
import { expireUsage } from '../../../engine/src/observe/usage/usage.sql.ts';
import { createStatMeter } from '../../../engine/src/events/stat-meter.ts';
import { accountLimits, LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater({ metricsPerTenant: true, countsEveryMs: 250 }), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

const ORDERS = `export default {
  name: 'Orders', version: '1.0.0',
  props: { http: { type: '$.interface.http', customResponse: true }, to: 'string' },
  async run({ body }) {
    await fetch(this.to, { method: 'POST', body: 'x'.repeat(1000) });
    for (let i = 0; i < body.emits; i++) this.$emit({ i });
    this.http.respond({ status: 200, body: 'y'.repeat(300) });
  },
};`;
const DAY_MS = 86_400_000;

const today = () => new Date().toISOString().slice(0, 10);
const used = async (api: Headwater['api'], parameters = {}) => (await api('GET', '/usage', parameters)).data;

test('known traffic is counted exactly on the day of its account, and of no other account', async () => {
  const tenant = await hw.newAccount();
  const { data: webhook } = await tenant.api('POST', '/webhooks', { url: receiver.url, name: 'Shop' });
  const source = await tenant.deploy(ORDERS, { to: receiver.url });
  await tenant.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  receiver.script({ status: 200 }, { status: 500 });
  const body = JSON.stringify({ emits: 2 });
  const headers = { 'content-type': 'application/json' };
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(source.endpoint, { method: 'POST', body, headers });
    expect((await answer.text()).length).toBe(300);
  }
  const day = await eventually(
    async () => {
      const { days } = await used(tenant.api);
      const last = days.at(-1);
      return last.runs === 3 && last.events === 6 && last.deliveries === 6 && last;
    },
    { timeoutMs: 60_000 },
  );
  expect(day).toMatchObject({ day: today(), runs: 3, events: 6, deliveries: 6 });
  const failed = (await tenant.api('GET', '/stats')).data.totals.failed_attempts;
  expect(day.attempts).toBe(6 + failed);
  expect(day.run_ms).toBeGreaterThan(0);
  expect(day.cpu_ms).toBeGreaterThan(0);
  expect(day.bytes_in).toBeGreaterThan(3 * body.length);
  expect(day.bytes_out).toBeGreaterThan(3 * (1000 + 300));
  // Three at the endpoint, and those that this test has made to the API.
  const before = day.requests;
  await tenant.api('GET', '/sources');
  await eventually(async () => (await used(tenant.api)).days.at(-1).requests > before, { timeoutMs: 60_000 });
  const other = await hw.newAccount();
  expect((await used(other.api)).totals).toMatchObject({ runs: 0, events: 0, deliveries: 0, attempts: 0 });
  expect((await hw.admin('GET', `/accounts/${tenant.accountId}/usage`)).data.totals).toMatchObject({ runs: 3 });
  expect((await other.api('GET', `/accounts/${tenant.accountId}/usage`)).status).toBe(403);
  expect((await hw.admin('GET', '/accounts/o_none/usage')).status).toBe(404);
  const { data: listed } = await hw.admin('GET', `/tenants/${tenant.accountId}`);
  expect(listed.used_this_month).toMatchObject({ runs: 3, events: 6 });
  const metrics = await hw.metrics();
  expect(metrics).toContain(`headwater_account_runs_total{account="${tenant.accountId}"} 3`);
}, 120_000);

test('counts of a minute before midnight are of the day before, and each is added once', async () => {
  const tenant = await hw.newAccount();
  const midnightMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  let nowMs = midnightMs - 1_000;
  const meter = createStatMeter(() => nowMs);
  meter.use(tenant.accountId, 'requests', 2);
  meter.use(tenant.accountId, 'cpuMs', 1.5);
  nowMs = midnightMs + 1_000;
  meter.use(tenant.accountId, 'requests', 3);
  meter.add(tenant.accountId, ['dc_x'], 'emitted', 4);
  const parts = meter.take();
  meter.use('o_gone', 'requests', 1);
  await addStats(hw.sql, [...parts, ...meter.take()]);
  expect(meter.take()).toEqual([]);
  const { days, totals, since, until } = await used(tenant.api, { since: midnightMs - 1, until: midnightMs + 1 });
  expect([since, until]).toEqual([midnightMs - DAY_MS, midnightMs + DAY_MS]);
  expect(days.map(({ requests }: { requests: number }) => requests)).toEqual([2, 3]);
  expect(days.map(({ events }: { events: number }) => events)).toEqual([0, 4]);
  expect(totals).toMatchObject({ requests: 5, events: 4, cpu_ms: 2 });
  // Counts of use alone leave no empty counters by minute.
  expect(await hw.sql`select from stats where account_id = ${tenant.accountId} and began_ms < ${midnightMs}`).toEqual(
    [],
  );
});

test('a range is whole days, and a wrong one is refused with the mistake', async () => {
  for (const until of ['2026-11-28T00:00:00Z', '2026-11-28T09:30:00Z'])
    expect([until, (await used(hw.api, { until })).days.length]).toEqual([until, 30]);
  expect((await used(hw.api)).days).toHaveLength(30);
  const now = Date.now();
  for (const [parameters, path] of [
    [{ since: now, until: now - 1 }, 'since'],
    [{ since: now - 401 * DAY_MS }, 'since'],
    [{ until: 'soon' }, 'until'],
  ] as const) {
    const { status, text } = await hw.api('GET', '/usage', parameters);
    expect([status, (JSON.parse(text) as { errors: { path: string }[] }).errors[0]?.path]).toEqual([400, path]);
  }
});

test('days that are too old are deleted', async () => {
  const { accountId } = await hw.newAccount();
  const old = new Date(Date.now() - (LIMITS.usageKeptDays + 2) * DAY_MS).toISOString().slice(0, 10);
  for (const day of [old, today()])
    await hw.sql`insert into usage_days (account_id, day) values (${accountId}, ${day}::date) on conflict do nothing`;
  while ((await expireUsage(hw.sql, LIMITS.usageKeptDays, 100)) > 0);
  const left = await hw.sql<{ day: string }[]>`select day::text from usage_days where account_id = ${accountId}`;
  expect(left.map(({ day }) => day)).toEqual([today()]);
});

test('an account is told once of 80 and of 100 percent of a limit, and again after it was far from it', async () => {
  const tenant = await hw.newAccount();
  const look = () =>
    lookAtHeld(
      { sql: hw.sql, limits: { get: () => accountLimits({ maxWebhooks: 5 }) }, nowMs: Date.now },
      tenant.accountId,
    );
  const ids: string[] = [];
  const make = async () =>
    void ids.push((await tenant.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/' })).data.id);
  const told = async () => {
    const { data } = await tenant.api('GET', '/events', { emitter_id: tenant.accountId, event_name: '$webhooks' });
    return data
      .map(({ event }: { event: Record<string, unknown> }) => event)
      .filter(({ type }: { type: string }) => type === 'limit.near')
      .map(({ limit, value, used: now, percent }: Record<string, unknown>) => [limit, value, now, percent])
      .toReversed();
  };
  for (let i = 0; i < 4; i++) await make();
  await Promise.all([look(), look()]);
  await eventually(async () => (await told()).length === 1);
  await make();
  await look();
  await look();
  const both = [
    ['maxWebhooks', 5, 4, 80],
    ['maxWebhooks', 5, 5, 100],
  ];
  await eventually(async () => (await told()).length === 2);
  expect(await told()).toEqual(both);
  for (const id of ids.slice(2)) await tenant.api('DELETE', `/webhooks/${id}`);
  await look();
  for (let i = 0; i < 2; i++) await make();
  await look();
  await eventually(async () => (await told()).length === 3);
  expect((await told()).at(-1)).toEqual(['maxWebhooks', 5, 4, 80]);
});

test('the day has the most that was stored: code and configuration', async () => {
  const tenant = await hw.newAccount();
  const source = await tenant.deploy(
    `export default { name: 'A', version: '1.0.0', async run() {} }; // ${'x'.repeat(9_000)}`,
  );
  const look = () =>
    lookAtHeld({ sql: hw.sql, limits: { get: () => accountLimits() }, nowMs: Date.now }, tenant.accountId);
  await look();
  const { storage_bytes: most } = (await used(tenant.api)).days.at(-1);
  expect(most).toBeGreaterThan(9_000);
  await tenant.api('DELETE', `/sources/${source.id}`);
  await look();
  expect((await used(tenant.api)).days.at(-1).storage_bytes).toBeGreaterThanOrEqual(most);
});
