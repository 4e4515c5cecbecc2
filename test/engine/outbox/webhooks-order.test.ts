import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
});

const EMITTER = `export default { name: 'Emit', version: '1', run({ events }) {
  for (const event of events) this.$emit(event);
} };`;

interface Numbered {
  n: number;
  order?: { id: string };
}

async function listening(settings: object) {
  const { data, status, text } = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings });
  if (status !== 200) throw new Error(text);
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: data.id });
  return {
    id: data.id as string,
    data,
    emit: (...events: Numbered[]) => hw.api('POST', `/sources/${source.id}/run`, { event: { events } }),
  };
}

const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body) as Numbered;
const list = async (
  id: string,
  query = {},
): Promise<{ id: string; status: string; next_attempt_at: number | null }[]> =>
  (await hw.api('GET', `/webhooks/${id}/deliveries`, { limit: 100, ...query })).data;
const numbers = (count: number, from = 1): Numbered[] => Array.from({ length: count }, (_, i) => ({ n: i + from }));
const untilAllDelivered = (id: string, count: number) =>
  eventually(async () => (await list(id, { status: 'delivered' })).length === count, { timeoutMs: 20_000 });

/** The most requests of `of` that were open at the same time. */
function watchOverlap(of: (event: Numbered) => string, delayMs: number) {
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  receiver.answer = (request) => {
    const key = of(bodyOf(request));
    open.set(key, (open.get(key) ?? 0) + 1);
    most.set(key, Math.max(most.get(key) ?? 0, open.get(key) ?? 0));
    const after = new Promise((resolve) => setTimeout(resolve, delayMs)).then(() =>
      open.set(key, (open.get(key) ?? 0) - 1),
    );
    return { status: 200, after };
  };
  return most;
}

test('in order each event arrives once the one before has succeeded, retries included', async () => {
  const webhook = await listening({ ordering: 'fifo', retry_schedule_seconds: [1, 1, 1] });
  const failures = new Map([
    [2, 2],
    [4, 1],
  ]);
  receiver.answer = (request) => {
    const { n } = bodyOf(request);
    const left = failures.get(n) ?? 0;
    failures.set(n, left - 1);
    return { status: left > 0 ? 503 : 200 };
  };
  await webhook.emit(...numbers(3));
  await webhook.emit(...numbers(3, 4));
  await untilAllDelivered(webhook.id, 6);
  expect(receiver.requests.map((one) => bodyOf(one).n)).toEqual([1, 2, 2, 2, 3, 4, 4, 5, 6]);
});

test('one key that fails holds up no other; skipped or exhausted, it lets the next one of its key go', async () => {
  const webhook = await listening({
    ordering: 'fifo',
    ordering_key: 'order.id',
    retry_schedule_seconds: [3_600],
  });
  receiver.answer = (request) => ({ status: bodyOf(request).order?.id === 'bad' && bodyOf(request).n < 3 ? 500 : 200 });
  const events = [1, 2, 3].flatMap((n) => ['bad', 'good', 'fine'].map((id) => ({ n, order: { id } })));
  await webhook.emit(...events);
  await untilAllDelivered(webhook.id, 6);
  const of = (id: string) =>
    receiver.requests
      .map(bodyOf)
      .filter(({ order }) => order?.id === id)
      .map(({ n }) => n);
  expect([of('good'), of('fine'), of('bad')]).toEqual([[1, 2, 3], [1, 2, 3], [1]]);
  // The oldest of the key waits for its retry, the others for it.
  const waiting = await eventually(async () => {
    const rows = await list(webhook.id, { status: 'pending' });
    return rows.length === 3 && rows.filter(({ next_attempt_at: next }) => next !== null).length === 1 && rows;
  });
  const head = waiting.find(({ next_attempt_at: next }) => next !== null)!;
  expect((await hw.api('PUT', `/webhooks/${webhook.id}`, { retry_schedule_seconds: [1] })).status).toBe(200);
  const skipped = await hw.api('POST', `/deliveries/${head.id}/skip`);
  expect(skipped.data).toMatchObject({ id: head.id, status: 'cancelled' });
  expect(skipped.data.attempts.at(-1)).toMatchObject({ error: 'It was skipped' });
  expect((await hw.api('POST', `/deliveries/${head.id}/skip`)).status).toBe(409);
  // The second of the key is exhausted after its retry, and the third goes then.
  await eventually(() => of('bad').at(-1) === 3);
  expect(of('bad')).toEqual([1, 2, 2, 3]);
  await untilAllDelivered(webhook.id, 7);
});

test('deliveries of one key go one at a time, of several keys together, and a very large run keeps its order', async () => {
  const webhook = await listening({ ordering: 'fifo', ordering_key: 'order.id' });
  const most = watchOverlap(({ order }) => order?.id ?? '', 5);
  const count = 600;
  const events = Array.from({ length: count }, (_, i) => ({ n: i, order: { id: `k${i % 60}` } }));
  await webhook.emit(...events);
  await receiver.until(count, 30_000);
  expect(new Set(most.values())).toEqual(new Set([1]));
  for (let key = 0; key < 60; key++) {
    const got = receiver.requests.map(bodyOf).filter(({ order }) => order?.id === `k${key}`);
    expect(got.map(({ n }) => n)).toEqual(Array.from({ length: count / 60 }, (_, i) => key + i * 60));
  }
});

test('a stopped webhook that is in order drains in order', async () => {
  const webhook = await listening({ ordering: 'fifo', retry_schedule_seconds: [3_600, 3_600] });
  receiver.answer = { status: 503 };
  await webhook.emit(...numbers(3));
  await receiver.until(1);
  await eventually(async () => (await list(webhook.id, { status: 'sending' })).length === 0);
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: false });
  await webhook.emit(...numbers(2, 4));
  await eventually(async () => (await list(webhook.id, { status: 'held' })).length === 5);
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
  await hw.api('PUT', `/webhooks/${webhook.id}`, { active: true });
  await untilAllDelivered(webhook.id, 5);
  expect(receiver.requests.map((one) => bodyOf(one).n)).toEqual([1, 2, 3, 4, 5]);
});

test('deliveries that wait for their turn go at once when the order is removed', async () => {
  const webhook = await listening({ ordering: 'fifo', retry_schedule_seconds: [3_600] });
  receiver.answer = (request) => ({ status: bodyOf(request).n === 1 ? 503 : 200 });
  await webhook.emit(...numbers(4));
  await receiver.until(1);
  await eventually(async () => (await list(webhook.id, { status: 'sending' })).length === 0);
  await hw.api('PUT', `/webhooks/${webhook.id}`, { ordering: 'none' });
  await untilAllDelivered(webhook.id, 3);
  expect(receiver.requests.map((one) => bodyOf(one).n).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});

test('the deletion of the event that holds up its key lets the next ones go', async () => {
  const webhook = await listening({ ordering: 'fifo', retry_schedule_seconds: [3_600] });
  receiver.answer = (request) => ({ status: bodyOf(request).n === 1 ? 503 : 200 });
  await webhook.emit(...numbers(3));
  await receiver.until(1);
  const head = await eventually(async () => {
    const rows = (await hw.api('GET', `/webhooks/${webhook.id}/deliveries`, { status: 'pending' })).data;
    return (
      rows.length === 3 && rows.find(({ next_attempt_at: next }: { next_attempt_at: number | null }) => next !== null)
    );
  });
  const range = `start_id=${head.event_id}&end_id=${head.event_id}`;
  expect((await hw.api('DELETE', `/sources/${head.emitter_id}/events?${range}`)).status).toBe(202);
  await untilAllDelivered(webhook.id, 2);
  expect(receiver.requests.map((one) => bodyOf(one).n)).toEqual([1, 2, 3]);
});

test('no more attempts than allowed are in flight, and no more a second begin', async () => {
  const bounded = await listening({ max_in_flight: 2 });
  const most = watchOverlap(() => 'all', 30);
  await bounded.emit(...numbers(20));
  await untilAllDelivered(bounded.id, 20);
  expect(most.get('all')).toBe(2);
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
  const paced = await listening({ rate_per_second: 10 });
  await paced.emit(...numbers(40));
  await untilAllDelivered(paced.id, 40);
  const times = receiver.requests.map(({ at }) => at);
  // A second without deliveries is not made up for.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(2_500);
  expect((await hw.api('PUT', `/webhooks/${paced.id}`, { rate_per_second: null })).data.rate_per_second).toBe(null);
  await paced.emit({ n: 41 });
  await untilAllDelivered(paced.id, 41);
});

test.each<[settings: object, says: RegExp]>([
  [{ ordering: 'lifo' }, /ordering/],
  [{ ordering: 'none', ordering_key: 'a' }, /ordering must be fifo where an ordering_key is given/],
  [{ ordering_key: 'a..b' }, /ordering_key must be a path/],
  [{ rate_per_second: 0 }, /rate_per_second must be a whole number from 1 to 10000/],
  [{ max_in_flight: 2_000 }, /max_in_flight must be a whole number from 1 to 1024/],
])('settings that make no sense are refused: %j', async (settings, says) => {
  const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, ...settings });
  expect([status, text]).toEqual([400, expect.stringMatching(says)]);
});

test('an older one that is redelivered while the next is tried goes before its retry', async () => {
  const webhook = await listening({ ordering: 'fifo', retry_schedule_seconds: [1] });
  const failing = new Map([
    [1, 2],
    [2, 1],
  ]);
  const second = Promise.withResolvers<void>();
  receiver.answer = (request) => {
    const { n } = bodyOf(request);
    const left = failing.get(n) ?? 0;
    failing.set(n, left - 1);
    return { status: left > 0 ? 503 : 200, ...(n === 2 && left > 0 ? { after: second.promise } : {}) };
  };
  await webhook.emit(...numbers(2));
  await eventually(() => receiver.requests.some((one) => bodyOf(one).n === 2), { timeoutMs: 20_000 });
  const [first] = await list(webhook.id, { status: 'failed' });
  expect((await hw.api('POST', `/webhooks/${webhook.id}/redeliver`, { ids: [first?.id] })).status).toBe(200);
  await eventually(async () => {
    const [row] = await hw.sql`select from deliveries where id = ${first?.id ?? ''} and next_attempt_at = 'infinity'`;
    return row !== undefined;
  });
  second.resolve();
  await untilAllDelivered(webhook.id, 2);
  expect(receiver.requests.map((one) => bodyOf(one).n)).toEqual([1, 1, 2, 1, 2]);
});
