import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
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
beforeEach(() => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
});

const EMITTER = `export default { name: 'Emit', version: '1', run({ count }) {
  for (let n = 0; n < count; n++) this.$emit({ n });
} };`;

/** A webhook with one failed delivery of each event. */
async function failed(count: number) {
  const { data } = await hw.api('POST', '/webhooks', { url: receiver.url, retry_schedule_seconds: [] });
  const id = data.id as string;
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  receiver.answer = { status: 500 };
  await hw.api('POST', `/sources/${source.id}/run`, { event: { count } });
  await eventually(async () => (await deliveries(id, { status: 'failed' })).length === count);
  receiver.answer = { status: 200 };
  receiver.requests.length = 0;
  return { id, redeliver: (body: Record<string, unknown>) => hw.api('POST', `/webhooks/${id}/redeliver`, body) };
}

const deliveries = async (id: string, query: Record<string, unknown>): Promise<{ id: string }[]> =>
  (await hw.api('GET', `/webhooks/${id}/deliveries`, { limit: 100, ...query })).data;
const arrived = () => receiver.requests.map(({ body }) => JSON.parse(body).n as number).toSorted((a, b) => a - b);

test('failed deliveries are sent again by a filter on their events, by ids, and by status', async () => {
  const { id, redeliver } = await failed(6);
  const filter = { n: { $gte: 4 } };
  expect((await redeliver({ filter, dry_run: true })).data).toEqual({ count: 2 });
  expect((await redeliver({ filter })).data).toEqual({ count: 2 });
  await receiver.until(2);
  expect(arrived()).toEqual([4, 5]);
  await eventually(async () => (await deliveries(id, { status: 'delivered' })).length === 2);
  expect((await redeliver({ filter })).data).toEqual({ count: 0 });

  const ids = (await deliveries(id, { status: 'failed' })).slice(0, 2).map((one) => one.id);
  expect((await redeliver({ ids })).data).toEqual({ count: 2 });
  await eventually(async () => (await deliveries(id, { status: 'delivered' })).length === 4);

  expect((await redeliver({ status: 'delivered,cancelled', filter: { n: 5 } })).data).toEqual({ count: 1 });
  await receiver.until(5);
  expect(arrived().filter((n) => n === 5)).toHaveLength(2);
});

test('a discarded delivery is sent again by its status, and one without its event is passed over', async () => {
  const { id, redeliver } = await failed(2);
  await hw.sql`update deliveries set status = 'cancelled' where webhook_id = ${id}`;
  const [lost] = await deliveries(id, {});
  await hw.sql`
    delete from events e using deliveries d where d.id = ${lost?.id ?? ''}
      and e.emitter_id = d.emitter_id and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq`;
  expect((await redeliver({ status: 'failed' })).data).toEqual({ count: 0 });
  expect((await redeliver({ status: 'cancelled' })).data).toEqual({ count: 1 });
  await receiver.until(1);
  expect(await deliveries(id, { status: 'cancelled' })).toMatchObject([{ id: lost?.id }]);
});

test('a request looks at a bounded number of deliveries, and its cursor leads on', async () => {
  const { id, redeliver } = await failed(1);
  await hw.api('PUT', `/webhooks/${id}`, { active: false });
  await hw.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    select 'dlv_0' || lpad(n::text, 12, '0'), account_id, webhook_id, emitter_id, indexed_at_ms, seq, 'delivered'
    from deliveries cross join generate_series(1, ${LIMITS.maxRedeliveries}::int4) n where webhook_id = ${id}`;
  const body = { status: 'failed,cancelled', dry_run: true };
  const first = (await redeliver(body)).data;
  expect(first).toEqual({ count: 0, end_cursor: expect.any(String) });
  expect((await redeliver({ ...body, after: first.end_cursor })).data).toEqual({ count: 1 });
  expect((await redeliver({ status: 'failed,cancelled' })).status).toBe(409);
});

test.each<[body: Record<string, unknown>, says: RegExp]>([
  [{ filter: { n: { $regex: 'a' } } }, /\$regex/],
  [{ status: 'pending' }, /status/],
  [{ ids: [] }, /ids/],
  [{ delivery_id: 'dlv_1', filter: { n: 1 } }, /filter does not go with delivery_id/],
  [{ status: 'failed', after: 'nowhere' }, /after/],
])('a choice that makes no sense is refused: %j', async (body, says) => {
  const { id } = (await hw.api('POST', '/webhooks', { url: receiver.url })).data;
  const { status, text } = await hw.api('POST', `/webhooks/${id}/redeliver`, body);
  expect([status, text]).toEqual([400, expect.stringMatching(says)]);
});
