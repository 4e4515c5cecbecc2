import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

const EMITTER = `export default { name: 'Emitter', version: '1', props: { http: '$.interface.http' },
  run({ body }) { for (const one of [body].flat()) this.$emit(one, { name: one.channel, summary: one.id }); } };`;
const QUIET = `export default { name: 'Quiet', version: '1', run() {} };`;
const WORKFLOW_STEP = `export default { name: 'Step', version: '1', type: 'action', run() { return 1; } };`;

const LARGE = { 'order.total': { $gte: 100 } };

const post = (source: DeployedSource, body: unknown) =>
  fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function subscribe(emitter_id: string, listener_id: string, more: object = {}): Promise<Json> {
  const made = await hw.api('POST', '/subscriptions', { emitter_id, listener_id, ...more });
  expect(made.status).toBe(200);
  return made.data;
}

async function webhook(name: string): Promise<string> {
  return (await hw.api('POST', '/webhooks', { url: `${receiver.url}/${name}`, name })).data.id;
}

/** Listeners of each event of the newest trace, by the summary of the event. */
async function listenersOf(source: DeployedSource): Promise<Record<string, Json[]>> {
  await hw.untilIdle();
  const { data: events } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
  const { data: trace } = await hw.api('GET', `/traces/${events[0].metadata.trace_id}`);
  return Object.fromEntries(trace.runs[0].events.map((event: Json) => [event.summary, event.listeners]));
}

const sentTo = (name: string) =>
  receiver.requests.filter(({ url }) => url === `/${name}`).map(({ body }) => JSON.parse(body).id as string);

test('webhooks and sources get the events that match, and the trace names the clause of the others', async () => {
  const [emitter, listener] = [await hw.deploy(EMITTER), await hw.deploy(QUIET)];
  const [large, all] = [await webhook('large'), await webhook('all')];
  await subscribe(emitter.id, large, { filter: LARGE });
  await subscribe(emitter.id, listener.id, { filter: { order: { total: { $lt: 100 } } } });
  await subscribe(emitter.id, all);
  await post(emitter, [{ id: 'a', order: { total: 99 } }, { id: 'b', order: { total: 100 } }, { id: 'c' }]);
  const listeners = await listenersOf(emitter);
  await expect.poll(() => [sentTo('large'), sentTo('all').toSorted()]).toEqual([['b'], ['a', 'b', 'c']]);
  const of = (id: string, event: string) => listeners[event]?.filter((one) => one.listener_id === id);
  expect(of(large, 'b')).toMatchObject([{ outcome: 'delivery' }]);
  for (const event of ['a', 'c']) {
    expect(of(large, event)).toEqual([
      {
        listener_id: large,
        listener_name: 'large',
        outcome: 'missed',
        reason: 'filtered',
        clause: JSON.stringify(LARGE),
      },
    ]);
  }
  expect(of(listener.id, 'a')).toMatchObject([{ outcome: 'run', run: { status: 'ok' } }]);
  expect(of(listener.id, 'b')).toMatchObject([{ reason: 'filtered', clause: '{"order":{"total":{"$lt":100}}}' }]);
});

test('a filter is set, changed and taken away, and holds from then on', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('changed');
  const made = await subscribe(emitter.id, hook, { filter: LARGE });
  expect(made.filter).toEqual(LARGE);
  expect((await subscribe(emitter.id, hook)).filter).toEqual(LARGE);
  await post(emitter, { id: 'a' });
  await hw.untilIdle();
  const changed = await hw.api('PUT', `/subscriptions/${made.id}`, { filter: { id: 'b' } });
  expect(changed.data).toMatchObject({ id: made.id, filter: { id: 'b' } });
  await post(emitter, { id: 'a' });
  await post(emitter, { id: 'b' });
  await expect.poll(() => sentTo('changed')).toEqual(['b']);
  expect((await subscribe(emitter.id, hook, { filter: null })).filter).toBeNull();
  await post(emitter, { id: 'c' });
  await expect.poll(() => sentTo('changed')).toEqual(['b', 'c']);
});

test('a trace says nothing about a filter that was changed after the event', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('later');
  const { id } = await subscribe(emitter.id, hook, { filter: LARGE });
  await post(emitter, { id: 'a' });
  expect((await listenersOf(emitter))['a']).toMatchObject([{ reason: 'filtered' }]);
  await hw.api('PUT', `/subscriptions/${id}`, { filter: { id: 'z' } });
  expect((await listenersOf(emitter))['a']).toEqual([]);
});

test('a pattern has its channels, and a listener gets an event once', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('pattern');
  await subscribe(emitter.id, hook, { event_name: 'order.*' });
  await subscribe(emitter.id, hook, { event_name: 'order.created', filter: { id: 'none' } });
  const every = { emitter_id: 'dc_*', listener_id: hook, event_name: 'order.c*' };
  await subscribe('dc_*', hook, { event_name: 'order.c*' });
  await post(emitter, [
    { id: 'a', channel: 'order.created' },
    { id: 'b', channel: 'orders' },
    { id: 'c', channel: 'order.item.added' },
    { id: 'd' },
  ]);
  const listeners = await listenersOf(emitter);
  await expect.poll(() => sentTo('pattern').toSorted()).toEqual(['a', 'c']);
  expect(listeners['a']).toMatchObject([{ listener_id: hook, outcome: 'delivery' }]);
  expect(listeners['b']).toMatchObject([{ listener_id: hook, reason: 'no_such_channel' }]);
  expect((await hw.api('DELETE', '/subscriptions', every)).status).toBe(204);
});

test('a workflow that listens is filtered as well', async () => {
  const emitter = await hw.deploy(EMITTER);
  const step = await hw.api('POST', '/components', { component_code: WORKFLOW_STEP });
  const { data: workflow } = await hw.api('POST', '/workflows', {
    name: 'Filtered',
    triggers: [{ type: 'source', source_id: emitter.id }],
    steps: [{ namespace: 'one', component_id: step.data.id }],
  });
  await subscribe(emitter.id, workflow.id, { filter: LARGE });
  await post(emitter, [{ id: 'a' }, { id: 'b', order: { total: 500 } }]);
  const listeners = await listenersOf(emitter);
  expect(listeners['a']).toMatchObject([{ listener_id: workflow.id, reason: 'filtered' }]);
  expect(listeners['b']).toMatchObject([{ listener_id: workflow.id, outcome: 'run' }]);
});

test('an auto subscription gives its filter to its subscriptions', async () => {
  const hook = await webhook('auto');
  const made = await hw.api('POST', '/auto_subscriptions', { listener_id: hook, filter: LARGE });
  expect(made.data.filter).toEqual(LARGE);
  const emitter = await hw.deploy(EMITTER);
  await post(emitter, [{ id: 'a' }, { id: 'b', order: { total: 500 } }]);
  await expect.poll(() => sentTo('auto')).toEqual(['b']);
  await hw.api('DELETE', '/auto_subscriptions', { listener_id: hook });
});

test('a malformed filter is refused with the place, and the subscription of another account is unknown', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('refused');
  const ends = { emitter_id: emitter.id, listener_id: hook };
  const wrong = await hw.api('POST', '/subscriptions', { ...ends, filter: { order: { total: { $gtee: 1 } } } });
  expect(wrong.status).toBe(400);
  expect(JSON.parse(wrong.text).errors).toEqual([
    { path: 'filter.order.total.$gtee', message: 'is not an operator; did you mean $gte?' },
  ]);
  const large = await hw.api('POST', '/subscriptions', { ...ends, filter: { a: 'x'.repeat(5_000) } });
  expect(JSON.parse(large.text)).toMatchObject({ errors: [{ path: 'filter' }], limit: { name: 'maxFilterBytes' } });
  const { id } = await subscribe(emitter.id, hook);
  expect((await hw.api('PUT', '/subscriptions/sub_none', { filter: null })).status).toBe(404);
  const other = (await hw.admin('POST', '/accounts', { name: 'other' })).data.api_key;
  expect((await hw.as(other)('PUT', `/subscriptions/${id}`, { filter: { a: 1 } })).status).toBe(404);
  // JSON as it came, with a name that objects have of themselves.
  const proto = JSON.parse('{ "__proto__": { "a": 1 } }') as object;
  const body = JSON.stringify({ ...ends, filter: proto });
  expect(body).toContain('__proto__');
  const kept = await hw.api('POST', '/subscriptions', { ...ends, filter: proto });
  expect(JSON.stringify(kept.data.filter)).toBe(JSON.stringify(proto));
});

test('an event that takes too many steps is not sent, and its trace says so', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('costly');
  await subscribe(emitter.id, hook, { filter: { list: { n: 1 } } });
  const list = Array.from({ length: 60_000 }, () => ({ n: 0 }));
  await post(emitter, [{ id: 'a', list }, { id: 'b', list: [{ n: 1 }] }, { id: 'c' }]);
  const listeners = await listenersOf(emitter);
  expect(listeners['a']).toMatchObject([{ listener_id: hook, reason: 'filter_too_costly' }]);
  expect(listeners['b']).toMatchObject([{ listener_id: hook, outcome: 'delivery' }]);
  expect(listeners['c']).toMatchObject([{ listener_id: hook, reason: 'filtered' }]);
});
