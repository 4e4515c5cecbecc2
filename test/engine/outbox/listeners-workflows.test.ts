import { afterAll, beforeAll, expect, it } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
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

const EMITTER = `export default { name: 'Emitter', version: '1', run(event) { this.$emit(event, { name: event.channel }); } };`;
const ECHO = `export default { name: 'Echo', version: '1', run(event) { this.$emit({ heard: event }); } };`;
const RELAY = '$.send.emit({ relayed: steps.trigger.event }); return steps.trigger.event;';

async function flow(body: string, settings: Record<string, unknown> = {}): Promise<string> {
  const { data, text } = await hw.api('POST', '/workflows', {
    steps: [{ namespace: 'only', component_code: action(body) }],
    settings,
  });
  if (data === undefined) throw new Error(text);
  return data.id;
}

async function subscribe(emitterId: string, listenerId: string, eventName = ''): Promise<void> {
  const key = { emitter_id: emitterId, listener_id: listenerId, event_name: eventName };
  expect((await hw.api('POST', '/subscriptions', key)).text).toContain('sub_');
}

const run = (id: string, event: unknown) =>
  hw.api('POST', `/${id.startsWith('p_') ? 'workflows' : 'sources'}/${id}/run`, { event });

/** Events that triggered ended executions, oldest first. */
async function heard(id: string): Promise<unknown[]> {
  await hw.untilIdle();
  const rows = await hw.sql<{ event: string }[]>`
    select event from executions where workflow_id = ${id} and ended_at is not null order by id`;
  return rows.map(({ event }) => JSON.parse(event));
}

it('a workflow that listens to a source is run for each of its events on that channel', async () => {
  const [emitter, id] = [await hw.deploy(EMITTER), await flow('return 1;')];
  await subscribe(emitter.id, id, 'orders');
  await run(emitter.id, { n: 1, channel: 'orders' });
  await run(emitter.id, { n: 2 });
  await run(emitter.id, { n: 3, channel: 'orders' });
  expect(await heard(id)).toEqual([
    { n: 1, channel: 'orders' },
    { n: 3, channel: 'orders' },
  ]);
  const [execution] = await untilExecutions(hw.sql, id, 2);
  expect(execution?.context).toMatchObject({ emitter_id: emitter.id, workflow_id: id });
});

it('sources, workflows and webhooks get the events of a workflow', async () => {
  const [id, source, other] = [await flow(RELAY), await hw.deploy(ECHO), await flow('return 1;')];
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook` });
  for (const listener of [source.id, other, webhook.id]) await subscribe(id, listener);
  await run(id, { n: 1 });
  const [event] = await hw.untilEvents(source.id, 1);
  expect(event?.event).toEqual({ heard: { relayed: { n: 1 } } });
  expect(await heard(other)).toEqual([{ relayed: { n: 1 } }]);
  await receiver.until(1);
  expect(receiver.requests.at(-1)).toMatchObject({ url: '/hook', body: '{"relayed":{"n":1}}' });
});

it('p_* is every other workflow, also those to come, and no source; dc_* is no workflow', async () => {
  const [all, ofSources, emitter] = [await flow(RELAY), await flow('return 1;'), await hw.deploy(EMITTER)];
  await subscribe('p_*', all, 'glob');
  await subscribe('dc_*', ofSources, 'glob');
  await run(emitter.id, { from: 'source', channel: 'glob' });
  const later = await flow('$.send.emit({ name: "glob", raw_event: { from: "later" } });');
  const itself = await flow('return 1;');
  await subscribe('p_*', itself, 'glob');
  await run(later, {});
  expect(await heard(all)).toEqual([{ from: 'later' }]);
  expect(await heard(itself)).toEqual([{ from: 'later' }]);
  expect(await heard(ofSources)).toEqual([{ from: 'source', channel: 'glob' }]);
});

it('a workflow does not hear itself through p_*, and does where it is named', async () => {
  const once = await flow('$.send.emit({ name: "self", raw_event: { n: 1 } });');
  await subscribe('p_*', once, 'self');
  await run(once, {});
  expect(await heard(once)).toEqual([{}]);
  await hw.limit({ maxEventHops: 3 });
  await subscribe(once, once, 'self');
  await run(once, {});
  // Three events in a row are heard.
  expect(await heard(once)).toEqual([{}, {}, { n: 1 }, { n: 1 }, { n: 1 }]);
  await hw.limit({ maxEventHops: null });
});

it('the errors of a workflow are heard on $errors', async () => {
  const [fails, listener] = [await flow('throw new Error("asked to");'), await flow('return 1;')];
  await subscribe(fails, listener, '$errors');
  await run(fails, { n: 9 });
  expect(await heard(listener)).toEqual([
    expect.objectContaining({
      error: expect.objectContaining({ message: expect.stringContaining('asked to') }),
      original_event: { n: 9 },
    }),
  ]);
});

it('an auto subscription covers new workflows, and a workflow can be its listener', async () => {
  const listener = await flow('return 1;');
  const key = { listener_id: listener, event_name: 'auto' };
  expect((await hw.api('POST', '/auto_subscriptions', key)).status).toBe(200);
  const [made, source] = [
    await flow('$.send.emit({ name: "auto", raw_event: { from: "workflow" } });'),
    await hw.deploy(EMITTER),
  ];
  await run(made, {});
  await hw.untilIdle();
  await run(source.id, { from: 'source', channel: 'auto' });
  expect(await heard(listener)).toEqual([{ from: 'workflow' }, { from: 'source', channel: 'auto' }]);
  expect((await hw.api('DELETE', '/auto_subscriptions', key)).status).toBe(204);
});

it('a stopped workflow hears nothing, and one that takes turns keeps everything in order', async () => {
  const emitter = await hw.deploy(
    `export default { name: 'Many', version: '1', run(event) { for (let n = 0; n < 20; n++) this.$emit({ n }); } };`,
  );
  const [stopped, paused] = [
    await flow('return 1;'),
    await flow('return 1;', { concurrency: 1, throttle: { limit: 0, interval_seconds: 60 }, queue_limit: 1 }),
  ];
  for (const id of [stopped, paused]) await subscribe(emitter.id, id);
  await hw.api('PUT', `/workflows/${stopped}`, { active: false });
  await run(emitter.id, {});
  await hw.untilEvents(emitter.id, 20);
  const waiting = await hw.sql`select from invocations where source_id = ${paused}`;
  expect(waiting).toHaveLength(20);
  await hw.api('PUT', `/workflows/${paused}`, { settings: { throttle: null } });
  expect(await heard(paused)).toEqual(Array.from({ length: 20 }, (_, n) => ({ n })));
  const begun = await hw.sql<{ id: string }[]>`
    select id from executions where workflow_id = ${paused} order by started_at, id`;
  expect(begun.map(({ id }) => id)).toEqual(begun.map(({ id }) => id).toSorted());
  expect(await heard(stopped)).toEqual([]);
});

it('a deleted workflow is subscribed to nothing, and nothing to it', async () => {
  const [emitter, id, listener] = [await hw.deploy(EMITTER), await flow(RELAY), await hw.deploy(ECHO)];
  await subscribe(emitter.id, id);
  await subscribe(id, listener.id);
  await hw.api('DELETE', `/workflows/${id}`);
  expect(await hw.sql`select from subscriptions where emitter_id = ${id} or listener_id = ${id}`).toHaveLength(0);
});
