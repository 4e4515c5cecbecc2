import { afterAll, beforeAll, expect, test } from 'vitest';
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

const EMITTER = `export default { name: 'Emit', version: '1', run(event) { this.$emit(event); } };`;

test('Retry-After puts off the webhook: new events wait as well, until the time has come or its owner says so', async () => {
  const [asking, other] = [
    (await hw.api('POST', '/webhooks', { url: `${receiver.url}/asking` })).data,
    (await hw.api('POST', '/webhooks', { url: `${receiver.url}/other` })).data,
  ];
  const source = await hw.deploy(EMITTER);
  for (const { id } of [asking, other])
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  const emit = (n: number) => hw.api('POST', `/sources/${source.id}/run`, { event: { n } });
  const arrivedAt = (path: string) => receiver.requests.filter(({ url }) => url === path);
  const webhook = async () => (await hw.api('GET', `/webhooks/${asking.id}`)).data;

  receiver.answer = ({ url }) => (url === '/asking' ? { status: 429, headers: { 'retry-after': '600' } } : {});
  await emit(1);
  const putOff = await eventually(async () => {
    const now = await webhook();
    return now.put_off_until !== null && now;
  });
  expect(Math.abs(putOff.put_off_until - Date.now() / 1_000 - 600)).toBeLessThan(120);
  for (let n = 2; n <= 6; n++) await emit(n);
  // The others of the account are not.
  await eventually(() => arrivedAt('/other').length === 6);
  expect(arrivedAt('/asking')).toHaveLength(1);
  expect(
    await eventually(async () => {
      const { data } = await hw.api('GET', `/webhooks/${asking.id}/deliveries`, { status: 'pending' });
      return data.length === 6 && data;
    }),
  ).toHaveLength(6);

  receiver.answer = {};
  // It is the receiver's time, and not that of the delivery that was refused.
  await hw.sql`update webhooks set paced_until = now() + interval '1 second' where id = ${asking.id}`;
  await emit(7);
  await eventually(() => arrivedAt('/asking').length === 7);

  receiver.answer = ({ url }) => (url === '/asking' ? { status: 503, headers: { 'retry-after': '600' } } : {});
  await emit(8);
  await eventually(async () => (await webhook()).put_off_until !== null);
  receiver.answer = {};
  await hw.api('POST', `/webhooks/${asking.id}/retry`);
  expect((await webhook()).put_off_until).toBe(null);
  await eventually(async () => {
    const { data } = await hw.api('GET', `/webhooks/${asking.id}/deliveries`, { limit: 20 });
    return data.length === 8 && data.every(({ status }: { status: string }) => status === 'delivered');
  });
});
