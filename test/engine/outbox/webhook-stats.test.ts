import { afterAll, beforeAll, expect, test } from 'vitest';
import { idFloor } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

test('the stats of a webhook show success, latency, error classes and waiting deliveries', async () => {
  receiver.script({ status: 200 }, { status: 204 }, { status: 500 }, { status: 200 });
  const { id } = (await hw.api('POST', '/webhooks', { url: receiver.url, retry_schedule_seconds: [0, 3_600] })).data;
  expect((await hw.api('GET', `/webhooks/${id}/stats`)).data).toMatchObject({
    success_share: null,
    latency_ms: { p50: null, p95: null },
    sampled_deliveries: 0,
    backlog: 0,
    oldest_due_at: null,
  });
  const source = await hw.deploy(`export default { name: 'Emit', version: '1', run(event) { this.$emit(event); } };`);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  for (let n = 0; n < 3; n++) await hw.api('POST', `/sources/${source.id}/run`, { event: { n } });
  await receiver.until(4);
  receiver.answer = { hangUp: true };
  await hw.api('POST', `/sources/${source.id}/run`, { event: { n: 3 } });
  await receiver.until(6);
  const stats = await eventually(
    async () => {
      const { data } = await hw.api('GET', `/webhooks/${id}/stats`);
      return data.failed_attempts === 3 && data.delivered === 3 && data;
    },
    { timeoutMs: 30_000, what: 'the counters of six attempts' },
  );
  expect(stats).toMatchObject({
    success_share: 0.5,
    exhausted: 0,
    status_classes: { http_2xx: 3, http_3xx: 0, http_4xx: 0, http_5xx: 1, none: 2 },
    sampled_deliveries: 4,
    backlog: 1,
    oldest_due_at: null,
  });
  expect(stats.latency_ms.p95).toBeGreaterThanOrEqual(stats.latency_ms.p50);
  // On hold, what waits is due once its time has come.
  await hw.api('PUT', `/webhooks/${id}`, { active: false });
  await hw.sql`update deliveries set next_attempt_at = now() - interval '1 hour' where webhook_id = ${id} and status = 'pending'`;
  const { data: held } = await hw.api('GET', `/webhooks/${id}/stats`);
  expect(Math.abs(Date.now() / 1_000 - 3_600 - held.oldest_due_at)).toBeLessThan(600);
  // For a time at which nothing had happened yet, and of another account.
  const later = { since: Date.now() - 1 };
  expect((await hw.api('GET', `/webhooks/${id}/stats`, later)).data.sampled_deliveries).toBe(0);
  const iso = { since: new Date(Date.now() - 1).toISOString() };
  expect((await hw.api('GET', `/webhooks/${id}/stats`, iso)).data.sampled_deliveries).toBe(0);
  expect((await hw.api('GET', `/webhooks/${id}/stats`, { since: 'yesterday' })).status).toBe(400);
  const { api_key: other } = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
  expect((await hw.as(other)('GET', `/webhooks/${id}/stats`)).status).toBe(404);
});

test('stats look at a bounded number of deliveries, by their keys', async () => {
  const { id } = (await hw.api('POST', '/webhooks', { url: receiver.url })).data;
  await hw.api('PUT', `/webhooks/${id}`, { active: false });
  const rows = 30_000;
  const attempts = JSON.stringify([{ at: '2026-01-01T00:00:00.000Z', status_code: 200, duration_ms: 10 }]);
  await hw.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status, attempts)
    select ${idFloor('delivery', Date.now())} || lpad(n::text, 12, '0'), ${hw.accountId}, ${id}, 'dc_1', 1, n,
      case when n % 2 = 0 then 'pending' else 'delivered' end,
      case when n % 2 = 0 then '[]' else ${attempts}::text::jsonb end
    from generate_series(1, ${rows}::int4) n`;
  const { data } = await hw.api('GET', `/webhooks/${id}/stats`);
  expect(data).toMatchObject({ sampled_deliveries: 1_000, backlog: 10_000, latency_ms: { p50: 10, p95: 10 } });
  expect(data.status_classes.http_2xx).toBe(500);
});
