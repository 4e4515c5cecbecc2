import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
let receiver: Receiver;
/** Receives notices about webhooks. */
let ops: Receiver;

beforeAll(async () => {
  [hw, receiver, ops] = await Promise.all([startHeadwater(), startReceiver(), startReceiver()]);
  const { data } = await hw.api('POST', '/webhooks', { url: ops.url, retry_schedule_seconds: [] });
  const subscription = { emitter_id: hw.accountId, listener_id: data.id, event_name: '$webhooks' };
  const { status, text } = await hw.api('POST', '/subscriptions', subscription);
  if (status !== 200) throw new Error(text);
});
afterAll(async () => {
  await hw.stop();
  await Promise.all([receiver.stop(), ops.stop()]);
});
afterEach(async () => {
  receiver.requests.length = 0;
  ops.requests.length = 0;
  ops.answer = { status: 200 };
  receiver.answer = { status: 200 };
  await hw.limit({ maxPausedDeliveries: null });
});

const EMITTER = `export default { name: 'Emit', version: '1', run(event) { this.$emit(event, event); } };`;

async function listening(settings: object = {}) {
  const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings })).data;
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  const emit = (event: unknown = {}) => hw.api('POST', `/sources/${source.id}/run`, { event });
  return { id: webhook.id as string, url: webhook.url as string, sourceId: source.id, emit };
}

const webhookOf = async (id: string) => (await hw.api('GET', `/webhooks/${id}`)).data;
const statuses = async (id: string): Promise<string[]> =>
  (await hw.api('GET', `/webhooks/${id}/deliveries`)).data.map(({ status }: { status: string }) => status);
const told = (): Json[] => ops.requests.map(({ body }) => JSON.parse(body));
const untilTold = (type: string) =>
  eventually(() => Promise.resolve(told().find((one) => one.type === type)), { what: `${type} is told` });
/** As if its failures had begun so long ago, those without a day between them `over` hours ago. */
const failedFor = (id: string, hours: number, { over = hours, lastAgo = 0 } = {}) =>
  hw.sql`
    update webhooks set failing_since = now() - make_interval(hours => ${hours}),
      failures_from = now() - make_interval(hours => ${over}), failed_at = now() - make_interval(hours => ${lastAgo})
    where id = ${id}`;

test('a webhook that fails for days is disabled and holds, and sends its held deliveries when it is started again', async () => {
  receiver.answer = { status: 500 };
  const webhook = await listening({ retry_schedule_seconds: [0] });
  await webhook.emit({ n: 1 });
  await eventually(async () => (await webhookOf(webhook.id)).failing_since !== null);
  await eventually(async () => (await statuses(webhook.id)).join() === 'failed');
  expect(await untilTold('delivery.exhausted')).toMatchObject({
    webhook_id: webhook.id,
    attempts: 2,
    error_class: 'http_5xx',
    emit_id: expect.stringContaining(webhook.sourceId),
  });
  await failedFor(webhook.id, 119);
  await webhook.emit({ n: 2 });
  await eventually(async () => (await statuses(webhook.id)).join() === 'failed,failed');
  expect((await webhookOf(webhook.id)).active).toBe(true);
  await failedFor(webhook.id, 121);
  await webhook.emit({ n: 3 });
  const disabled = await eventually(async () => {
    const now = await webhookOf(webhook.id);
    return !now.active && now;
  });
  expect(disabled).toMatchObject({ disabled_reason: 'failing', disabled_at: expect.any(Number) });
  expect(await untilTold('webhook.disabled')).toMatchObject({
    webhook_id: webhook.id,
    url: webhook.url,
    reason: 'failing',
    failing_since_ms: expect.any(Number),
  });
  await webhook.emit({ n: 4 });
  await eventually(async () => (await statuses(webhook.id)).includes('held'));
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
  const started = (await hw.api('PUT', `/webhooks/${webhook.id}`, { active: true })).data;
  expect(started).toMatchObject({ active: true, disabled_reason: null, disabled_at: null, failing_since: null });
  await eventually(async () => receiver.requests.some(({ body }) => JSON.parse(body).n === 4));
  await eventually(async () => !(await statuses(webhook.id)).some((one) => one !== 'delivered' && one !== 'failed'));
  expect(await untilTold('webhook.enabled')).toMatchObject({ webhook_id: webhook.id });
});

test('failures now and then do not disable it: they must go on for as long as the webhook says', async () => {
  receiver.answer = { status: 500 };
  const webhook = await listening({ retry_schedule_seconds: [] });
  let emitted = 0;
  const fail = async () => {
    await webhook.emit({ n: ++emitted });
    await eventually(async () => (await statuses(webhook.id)).filter((one) => one === 'failed').length === emitted);
    return (await webhookOf(webhook.id)).active as boolean;
  };
  expect(await fail()).toBe(true);
  // The one before was more than a day ago.
  await failedFor(webhook.id, 500, { lastAgo: 25 });
  expect([await fail(), await fail()]).toEqual([true, true]);
  await failedFor(webhook.id, 500, { over: 11 });
  expect(await fail()).toBe(true);
  await failedFor(webhook.id, 500, { over: 13, lastAgo: 2 });
  expect(await fail()).toBe(false);
  const { data: started } = await hw.api('PUT', `/webhooks/${webhook.id}`, {
    active: true,
    disable_failures_over_hours: 0,
  });
  expect(started).toMatchObject({ disable_failures_over_hours: 0, failing_since: null });
  expect(await fail()).toBe(true);
  await failedFor(webhook.id, 121, { lastAgo: 120 });
  expect(await fail()).toBe(false);
  // A notice that comes later would be taken for one of the next test.
  await eventually(async () => told().filter(({ type }) => type === 'webhook.disabled').length === 2);
});

test('a success between begins anew, and with 0 it is never disabled', async () => {
  receiver.answer = { status: 500 };
  const [mended, stubborn] = [
    await listening({ retry_schedule_seconds: [] }),
    await listening({ retry_schedule_seconds: [], disable_after_hours: 0 }),
  ];
  for (const { id, emit } of [mended, stubborn]) {
    await emit({});
    await eventually(async () => (await webhookOf(id)).failing_since !== null);
    await failedFor(id, 1_000);
  }
  receiver.answer = { status: 200 };
  await mended.emit({});
  await eventually(async () => (await webhookOf(mended.id)).failing_since === null);
  receiver.answer = { status: 410 };
  await stubborn.emit({});
  await eventually(async () => (await statuses(stubborn.id)).join() === 'failed,failed');
  expect(await webhookOf(stubborn.id)).toMatchObject({ active: true, disable_after_hours: 0 });
  receiver.answer = { status: 500 };
  await mended.emit({});
  await eventually(async () => (await statuses(mended.id))[0] === 'failed');
  expect((await webhookOf(mended.id)).active).toBe(true);
});

test('410 disables at once, and tells', async () => {
  receiver.answer = { status: 410 };
  const webhook = await listening();
  await webhook.emit();
  await eventually(async () => (await webhookOf(webhook.id)).disabled_reason === 'gone');
  expect(await untilTold('webhook.disabled')).toMatchObject({ webhook_id: webhook.id, reason: 'gone' });
  expect(await statuses(webhook.id)).toEqual(['failed']);
});

test('changes by the owner are reported as well: stops, starts and new secrets', async () => {
  const webhook = await listening();
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: false });
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: false, name: 'still stopped' });
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: true });
  await hw.api('POST', `/webhooks/${webhook.id}/rotate_secret`);
  await untilTold('webhook.secret_rotated');
  const types = told().map(({ type, reason }) => [type, reason]);
  expect(types.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
    ['webhook.disabled', 'stopped'],
    ['webhook.enabled', undefined],
    ['webhook.secret_rotated', undefined],
  ]);
  const { data } = await hw.api('GET', '/events', { emitter_id: hw.accountId, event_name: '$webhooks' });
  expect(data.length).toBeGreaterThanOrEqual(3);
});

test('a backlog near its limit is told once', async () => {
  const webhook = await listening();
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: false });
  await hw.limit({ maxPausedDeliveries: 5 });
  for (let n = 0; n < 4; n++) await webhook.emit();
  expect(await untilTold('backlog.near_limit')).toMatchObject({ limit: 'maxPausedDeliveries', value: 5, used: 4 });
  expect(told().filter(({ type }) => type === 'backlog.near_limit')).toHaveLength(1);
});

test('a receiver of notices that fails is not told of its own failures', async () => {
  ops.answer = { status: 500 };
  const webhook = await listening();
  await hw.api('POST', `/webhooks/${webhook.id}/rotate_secret`);
  await ops.until(1);
  const failed = () => hw.sql`select from deliveries where emitter_id = ${hw.accountId} and status = 'failed'`;
  await eventually(async () => (await failed()).length === 1);
  await eventually(async () => (await hw.sql`select from webhook_notices`).length === 0);
  expect(told().map(({ type }) => type)).toEqual(['webhook.secret_rotated']);
});

test('components cannot emit on $webhooks, and the account is heard on no other channel', async () => {
  const source = await hw.deploy(
    `export default { name: 'Forger', version: '1', run() { this.$emit({ type: 'webhook.disabled' }, { name: '$webhooks' }); } };`,
  );
  await hw.api('POST', `/sources/${source.id}/run`, { event: {} });
  const [run] = await eventually(async () => {
    const { data } = await hw.api('GET', `/sources/${source.id}/runs`);
    return data.length === 1 && data;
  });
  expect(run.error.message).toContain('$webhooks');
  const { data } = await hw.api('POST', '/webhooks', { url: receiver.url });
  const other = await hw.api('POST', '/subscriptions', { emitter_id: hw.accountId, listener_id: data.id });
  expect([other.status, other.text]).toEqual([400, expect.stringContaining('must be $webhooks')]);
});

test('a notice that a node has taken and not told before it died is told by another', async () => {
  await hw.sql`
    insert into webhook_notices (id, account_id, data, taken_until)
    values ('ntc_left', ${hw.accountId}, '{"type":"left"}', now() + interval '1 hour')`;
  await hw.sql`update webhook_notices set taken_until = now()`;
  expect(await untilTold('left')).toEqual({ type: 'left' });
  await eventually(async () => (await hw.sql`select from webhook_notices`).length === 0);
});
