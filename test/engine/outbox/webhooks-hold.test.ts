import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
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
afterEach(async () => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
  await hw.limit({ maxPausedDeliveries: null });
});

const EMITTER = `export default { name: 'Emit', version: '1', run({ from, to }) {
  for (let n = from; n <= to; n++) this.$emit({ n });
} };`;

/** A webhook, and a source that sends it numbered events. */
async function listening(settings: object = {}) {
  const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings })).data;
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  return {
    id: webhook.id as string,
    sourceId: source.id,
    emit: async (from: number, to = from) => {
      const before = (await statuses(webhook.id)).length;
      await hw.api('POST', `/sources/${source.id}/run`, { event: { from, to } });
      await eventually(async () => (await statuses(webhook.id)).length === before + to - from + 1);
    },
    put: async (change: Record<string, unknown>) => {
      const { status, data, text } = await hw.api('PUT', `/webhooks/${webhook.id}`, change);
      if (status !== 200) throw new Error(text);
      return data;
    },
  };
}

const list = async (id: string, query = {}) =>
  (await hw.api('GET', `/webhooks/${id}/deliveries`, { limit: 100, ...query })).data;
const statuses = async (id: string): Promise<string[]> =>
  (await list(id)).map(({ status }: { status: string }) => status);
const allAre = (id: string, status: string) =>
  eventually(async () => (await statuses(id)).every((one) => one === status), { what: `all are ${status}` });
const numbers = () => receiver.requests.map(({ body }) => JSON.parse(body).n as number);

// Runs first: the count of held deliveries is only updated every five seconds.
test('beyond the held deliveries of an account nothing is lost in silence: the trace says so', async () => {
  const webhook = await listening();
  const other = await listening();
  await webhook.put({ active: false });
  await hw.limit({ maxPausedDeliveries: 2 });
  await webhook.emit(1, 2);
  await hw.api('POST', `/sources/${webhook.sourceId}/run`, { event: { from: 3, to: 3 } });
  const events = await hw.untilEvents(webhook.sourceId, 3);
  const last = events.at(-1)?.id;
  const trace = await eventually(async () => {
    const { status, data } = await hw.api('GET', `/traces/${webhook.sourceId}-${last}`);
    return status === 200 && data;
  });
  expect(trace.runs[0].events[0].listeners).toMatchObject([{ listener_id: webhook.id, reason: 'hold_full' }]);
  expect(trace.runs[0].status).toBe('ok');
  expect(await statuses(webhook.id)).toEqual(['held', 'held']);
  await other.emit(4);
  await receiver.until(1);
});

test('a stopped webhook keeps its retries and new events, and sends them in their order when it starts', async () => {
  const webhook = await listening({ retry_schedule_seconds: [1, 3_600, 3_600] });
  receiver.answer = { status: 503 };
  await webhook.emit(1, 3);
  await eventually(async () =>
    (await list(webhook.id)).every(({ attempts }: { attempts: unknown[] }) => attempts.length === 2),
  );
  await webhook.put({ active: false });
  await webhook.emit(4, 5);
  expect(await statuses(webhook.id)).toEqual(Array(5).fill('held'));
  expect(await list(webhook.id, { status: 'held' })).toHaveLength(5);
  expect(await list(webhook.id, { status: 'pending' })).toEqual([]);
  const [newest] = await list(webhook.id);
  expect(newest).toMatchObject({ attempts: [], next_attempt_at: null });
  expect((await hw.api('GET', `/deliveries/${newest.id}`)).data.status).toBe('held');
  const { data: trace } = await hw.api('GET', `/traces/${webhook.sourceId}-${newest.event_id}`);
  const heard = trace.runs[0].events.at(-1).listeners;
  expect(heard).toMatchObject([{ listener_id: webhook.id, outcome: 'delivery', delivery: { status: 'held' } }]);

  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
  // One at a time, so that the order of arrival is that of sending.
  expect(await webhook.put({ active: true, drain_per_second: 5 })).toMatchObject({ drain_per_second: 5 });
  await allAre(webhook.id, 'delivered');
  expect(numbers()).toEqual([1, 2, 3, 4, 5]);
  await eventually(async () => (await hw.api('GET', `/webhooks/${webhook.id}`)).data.draining_since === null);
  await webhook.emit(6);
  await allAre(webhook.id, 'delivered');
});

test('held deliveries drain at the requested rate, while new events are sent at once', async () => {
  const webhook = await listening();
  await webhook.put({ active: false });
  await webhook.emit(1, 20);
  await webhook.put({ active: true, drain_per_second: 4 });
  await receiver.until(2);
  await webhook.emit(100);
  await eventually(async () => numbers().includes(100));
  expect(numbers().length).toBeLessThan(15);
  await receiver.until(21, 30_000);
  const drained = receiver.requests.filter(({ body }) => JSON.parse(body).n <= 20);
  expect(drained.map(({ body }) => JSON.parse(body).n)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  // The first at once, then four a second; what the machine held up may catch up for a second.
  const tookMs = (drained.at(-1)?.at ?? 0) - (drained[0]?.at ?? 0);
  expect(tookMs).toBeGreaterThan(3_500);
});

test('a drain that is stopped again holds the rest', async () => {
  const webhook = await listening();
  await webhook.put({ active: false });
  await webhook.emit(1, 10);
  await webhook.put({ active: true, drain_per_second: 1 });
  await receiver.until(1);
  expect(await webhook.put({ active: false })).toMatchObject({ drain_per_second: null, draining_since: null });
  await eventually(async () => !(await statuses(webhook.id)).includes('sending'));
  const sent = receiver.requests.length;
  expect((await statuses(webhook.id)).filter((one) => one === 'held')).toHaveLength(10 - sent);
  await webhook.put({ active: true });
  await allAre(webhook.id, 'delivered');
  expect(numbers().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('discard cancels waiting deliveries, which are listed with the reason', async () => {
  const webhook = await listening();
  await webhook.put({ active: false });
  await webhook.emit(1, 3);
  expect((await hw.api('POST', `/webhooks/${webhook.id}/discard`)).data).toEqual({ count: 3 });
  const [one] = await list(webhook.id, { status: 'cancelled' });
  expect(one.attempts).toMatchObject([{ error: 'It was discarded' }]);
  expect((await hw.api('POST', `/webhooks/${webhook.id}/discard`)).data).toEqual({ count: 0 });
  await webhook.put({ active: true });
  await webhook.emit(4);
  await receiver.until(1);
  expect(numbers()).toEqual([4]);
  // Pending ones of a webhook that is not stopped as well.
  receiver.answer = { status: 503 };
  await webhook.emit(5);
  await eventually(async () => (await list(webhook.id))[0].attempts.length === 1);
  expect((await hw.api('POST', `/webhooks/${webhook.id}/discard`)).data).toEqual({ count: 1 });
});

test.each([
  [{ drain_per_second: 5 }, /drain_per_second goes with active: true/],
  [{ active: false, drain_per_second: 5 }, /drain_per_second goes with active: true/],
  [{ active: true, drain_per_second: 0 }, /drain_per_second must be a whole number from 1 to 10000/],
])('a rate that makes no sense is refused: %j', async (change, says) => {
  const { data } = await hw.api('POST', '/webhooks', { url: receiver.url });
  const { status, text } = await hw.api('PUT', `/webhooks/${data.id}`, change);
  expect([status, text]).toEqual([400, expect.stringMatching(says)]);
});

test('held deliveries of another account are not found', async () => {
  const { data } = await hw.api('POST', '/webhooks', { url: receiver.url });
  const { api_key: other } = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
  expect((await hw.as(other)('POST', `/webhooks/${data.id}/discard`)).status).toBe(404);
});
