import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await hw.stop();
});

const SOURCE = `export default { name: 'S', version: '1', hooks: { deploy() { this.$emit({ from: 'deploy' }); } },
  run(event) { this.$emit({ from: 'run' }); this.$emit({ from: 'named' }, { name: 'named' }); } };`;
const ECHO = `export default { name: 'E', version: '1', run(event) { this.$emit({ heard: event }); } };`;

async function webhook(path: string): Promise<string> {
  const { data } = await hw.api('POST', '/webhooks', { url: receiver.url + path });
  return data.id as string;
}

async function auto(listenerId: string, eventName?: string) {
  return hw.api('POST', `/auto_subscriptions?listener_id=${listenerId}${eventName ? `&event_name=${eventName}` : ''}`);
}

const subscriptionsOf = async (listenerId: string) => {
  const { data } = await hw.api('GET', '/subscriptions', { limit: 100 });
  return data
    .filter((one: { listener_id: string }) => one.listener_id === listenerId)
    .map((one: { emitter_id: string; event_name: string }) => [one.emitter_id, one.event_name]);
};

const bodies = (path: string) => receiver.requests.filter(({ url }) => url === path).map(({ body }) => body);

test('every source that is made from now on is subscribed, before its first hook; those from before are not', async () => {
  const before = await hw.deploy(SOURCE);
  const listener = await webhook('/auto');
  const made = await auto(listener);
  expect(made).toMatchObject({ status: 200, data: { listener_id: listener, event_name: '' } });
  expect(made.data.id).toMatch(/^asub_/);
  const after = await hw.deploy(SOURCE);
  expect(await subscriptionsOf(listener)).toEqual([[after.id, '']]);
  await hw.api('POST', `/sources/${before.id}/run`);
  await hw.api('POST', `/sources/${after.id}/run`);
  await expect.poll(() => bodies('/auto').toSorted()).toEqual(['{"from":"deploy"}', '{"from":"run"}']);
  await hw.untilIdle();
  expect(bodies('/auto')).toHaveLength(2);
  await hw.api('DELETE', `/webhooks/${listener}`);
});

test('a source can be the listener, and a channel be named', async () => {
  const echo = await hw.deploy(ECHO);
  await auto(echo.id, 'named');
  const emitter = await hw.deploy(SOURCE);
  await hw.api('POST', `/sources/${emitter.id}/run`);
  const [heard] = await hw.untilEvents(echo.id, 1);
  expect(heard?.event).toEqual({ heard: { from: 'named' } });
  await hw.api('DELETE', `/sources/${echo.id}`);
  expect((await hw.api('GET', '/auto_subscriptions')).data).toEqual([]);
});

test('the same one is made once, listed, and ended by the values that made it; what it made stays', async () => {
  const listener = await webhook('/list');
  const [first, again, other] = [await auto(listener), await auto(listener), await auto(listener, 'other')];
  expect(again.data).toEqual(first.data);
  const list = await hw.api('GET', '/auto_subscriptions', { limit: 1 });
  expect(JSON.parse(list.text).page_info.total_count).toBe(2);
  expect(list.data).toEqual([other.data]);
  const source = await hw.deploy(SOURCE);
  expect(await subscriptionsOf(listener)).toHaveLength(2);
  const path = `/auto_subscriptions?listener_id=${listener}`;
  expect((await hw.api('DELETE', `${path}&event_name=other`)).status).toBe(204);
  expect((await hw.api('DELETE', `${path}&event_name=other`)).status).toBe(404);
  expect((await hw.api('DELETE', path)).status).toBe(204);
  expect(await subscriptionsOf(listener)).toHaveLength(2);
  await hw.deploy(SOURCE);
  expect((await subscriptionsOf(listener)).map(([emitter]: [string]) => emitter)).toEqual([source.id, source.id]);
});

test('one goes with its listener, also while sources are being made', async () => {
  for (let i = 0; i < 5; i++) {
    const listener = await webhook('/gone');
    await auto(listener);
    await Promise.all([hw.deploy(SOURCE), hw.api('DELETE', `/webhooks/${listener}`)]);
    expect(await subscriptionsOf(listener)).toEqual([]);
  }
  expect((await hw.api('GET', '/auto_subscriptions')).data).toEqual([]);
});

test('a source whose deployment fails leaves no subscription', async () => {
  const listener = await webhook('/failed');
  await auto(listener);
  const code = `export default { name: 'B', version: '1', hooks: { deploy() { throw new Error('no'); } }, run() {} };`;
  expect((await hw.api('POST', '/sources', { component_code: code })).status).toBe(422);
  expect(await subscriptionsOf(listener)).toEqual([]);
  await hw.api('DELETE', `/webhooks/${listener}`);
});

test('a listener that is unknown, or cannot listen, is told by name', async () => {
  for (const [id, status] of [
    ['wh_none', 404],
    ['dc_none', 404],
    ['dc_*', 400],
    ['p_1', 404],
    ['p_*', 400],
    ['', 400],
  ] as const) {
    const answer = await auto(id);
    expect([id, answer.status]).toEqual([id, status]);
    expect(answer.text).toContain('listener_id');
  }
});
