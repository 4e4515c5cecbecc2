import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** Emits the body of each request, on the channel that it names. */
const EMITTER = `export default { name: 'Emitter', version: '1', props: { http: '$.interface.http' },
  run({ body }) {
    for (const one of [body].flat()) {
      if (one.fail) throw new Error('asked to');
      if (one.log) console.warn(one.log);
      this.$emit(one, { name: one.channel, ...(one.id && { id: one.id }) });
    }
  } };`;

/** Emits each received event. */
const ECHO = `export default { name: 'Echo', version: '1', run(event) { this.$emit({ heard: event }); } };`;

const post = (source: DeployedSource, body: unknown) =>
  fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function subscribe(emitterId: string, listenerId: string, eventName = ''): Promise<void> {
  const answer = await hw.api('POST', '/subscriptions', {
    emitter_id: emitterId,
    listener_id: listenerId,
    event_name: eventName,
  });
  expect(answer.text).toContain('sub_');
}

async function heard(sourceId: string): Promise<unknown[]> {
  await hw.untilIdle();
  const { data } = await hw.api('GET', `/sources/${sourceId}/events`, { limit: 100, expand: 'event' });
  return data.map(({ event }: { event: { heard: unknown } }) => event.heard).toReversed();
}

const errorsOf = async (id: string) =>
  (await hw.api('GET', `/sources/${id}/$errors/event_summaries`, { limit: 100, expand: 'event' })).data;

test('a source that listens to another is run for each of its events, with the emitted data as its event', async () => {
  const [emitter, echo] = [await hw.deploy(EMITTER), await hw.deploy(ECHO)];
  await subscribe(emitter.id, echo.id);
  await post(emitter, [{ n: 1 }, { n: 2, text: 'é\u0000' }, 3]);
  expect(await heard(echo.id)).toEqual([{ n: 1 }, { n: 2, text: 'é\u0000' }, 3]);
});

test('a listener on a named channel is run only for events of that channel', async () => {
  const [emitter, onNamed, onDefault] = [await hw.deploy(EMITTER), await hw.deploy(ECHO), await hw.deploy(ECHO)];
  await subscribe(emitter.id, onNamed.id, 'orders');
  await subscribe(emitter.id, onDefault.id);
  await post(emitter, [{ n: 1, channel: 'orders' }, { n: 2 }, { n: 3, channel: 'Orders' }]);
  expect(await heard(onNamed.id)).toEqual([{ n: 1, channel: 'orders' }]);
  expect(await heard(onDefault.id)).toEqual([{ n: 2 }]);
});

test('an event that dedupe drops is not heard', async () => {
  const emitter = await hw.deploy(EMITTER.replace('props:', "dedupe: 'unique', props:"));
  const echo = await hw.deploy(ECHO);
  await subscribe(emitter.id, echo.id);
  await post(emitter, [{ id: 'a' }, { id: 'b' }, { id: 'a' }]);
  expect(await heard(echo.id)).toEqual([{ id: 'a' }, { id: 'b' }]);
});

test('a source that listens to dc_* hears every other source of the account, once, and not itself', async () => {
  const [one, other, all] = [await hw.deploy(EMITTER), await hw.deploy(EMITTER), await hw.deploy(ECHO)];
  await subscribe('dc_*', all.id, 'glob');
  await subscribe(one.id, all.id, 'glob');
  await post(one, { n: 1, channel: 'glob' });
  await post(other, { n: 2, channel: 'glob' });
  const events = (await heard(all.id)) as { n: number }[];
  expect(events.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([1, 2]);
  // On the channel that it emits on itself.
  const loud = await hw.deploy(`export default { name: 'Loud', version: '1',
    run(event) { this.$emit({ heard: event }, { name: 'loud' }); } };`);
  await subscribe('dc_*', loud.id, 'loud');
  await post(one, { n: 3, channel: 'loud' });
  expect(await heard(loud.id)).toEqual([{ n: 3, channel: 'loud' }]);
});

test('the results of an event can be followed: each names the event before it and the first invocation', async () => {
  const [emitter, first, second] = [await hw.deploy(EMITTER), await hw.deploy(ECHO), await hw.deploy(ECHO)];
  await subscribe(emitter.id, first.id);
  await subscribe(first.id, second.id);
  await post(emitter, { n: 1 });
  await heard(second.id);
  const chain = [];
  for (const { id } of [emitter, first, second]) {
    const { data } = await hw.api('GET', `/sources/${id}/event_summaries`);
    chain.push(data[0].metadata);
  }
  const [a, b, c] = chain;
  expect([a.caused_by, b.caused_by, c.caused_by]).toEqual([null, a.emit_id, b.emit_id]);
  expect(a.trace_id).toMatch(/^inv_/);
  expect([b.trace_id, c.trace_id]).toEqual([a.trace_id, a.trace_id]);
});

test('the record of a run that an event started names it', async () => {
  const emitter = await hw.deploy(EMITTER);
  const failing = await hw.deploy(`export default { name: 'F', version: '1', run() { throw new Error('no'); } };`);
  await subscribe(emitter.id, failing.id);
  await post(emitter, { n: 1 });
  await hw.untilIdle();
  const [event] = (await hw.api('GET', `/sources/${emitter.id}/event_summaries`)).data;
  const [run] = (await hw.api('GET', `/sources/${failing.id}/runs`)).data;
  expect(run).toMatchObject({ kind: 'event', status: 'error', caused_by: event.metadata.emit_id });
  const [error] = await errorsOf(failing.id);
  expect(error.event).toMatchObject({
    original_event: { n: 1 },
    original_context: { id: run.id, caused_by: event.metadata.emit_id, trace_id: event.metadata.trace_id },
  });
});

test('a listener that is stopped hears nothing, and nothing of it later; a deleted one is unsubscribed', async () => {
  const [emitter, echo] = [await hw.deploy(EMITTER), await hw.deploy(ECHO)];
  await subscribe(emitter.id, echo.id);
  await hw.api('PUT', `/sources/${echo.id}`, { active: false });
  await post(emitter, { n: 1 });
  await hw.untilEvents(emitter.id, 1);
  await hw.api('PUT', `/sources/${echo.id}`, { active: true });
  await post(emitter, { n: 2 });
  expect(await heard(echo.id)).toEqual([{ n: 2 }]);
  await hw.api('DELETE', `/sources/${echo.id}`);
  const { data } = await hw.api('GET', '/subscriptions', { limit: 100 });
  expect(data.filter((one: { listener_id: string }) => one.listener_id === echo.id)).toEqual([]);
  await post(emitter, { n: 3 });
  await hw.untilEvents(emitter.id, 3);
  await hw.untilIdle();
});

test('a ring of sources ends at maxEventHops: the run that would go on with it fails and names the limit', async () => {
  await hw.limit({ maxEventHops: 4 });
  const counting = `export default { name: 'Ring', version: '1', props: { http: { type: '$.interface.http' } },
    run(event) { this.$emit({ n: (event.n ?? 0) + 1 }); } };`;
  const [a, b] = [await hw.deploy(counting), await hw.deploy(counting)];
  await subscribe(a.id, b.id);
  await subscribe(b.id, a.id);
  await post(a, {});
  const errors = await eventually(async () => {
    const found = [...(await errorsOf(a.id)), ...(await errorsOf(b.id))];
    return found.length > 0 && found;
  });
  await hw.untilIdle();
  expect(errors).toHaveLength(1);
  expect(errors[0].event.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    message: 'The run emitted the event 5 of a chain of sources that hear each other; the limit maxEventHops is 4',
    limit: { name: 'maxEventHops', value: 4, used: 5 },
  });
  const all = [...(await hw.untilEvents(a.id, 1)), ...(await hw.untilEvents(b.id, 1))];
  // The last one is kept like any other; it is only not heard by sources.
  expect(all.map(({ event }) => event.n as number).toSorted((x, y) => x - y)).toEqual([1, 2, 3, 4, 5]);
  await hw.limit({ maxEventHops: null });
});

test('a source that is subscribed to itself ends there as well', async () => {
  await hw.limit({ maxEventHops: 3 });
  const self = await hw.deploy(`export default { name: 'Self', version: '1', props: { http: '$.interface.http' },
    run() { this.$emit(1); this.$emit(2, { name: 'unheard' }); } };`);
  await subscribe(self.id, self.id);
  await post(self, {});
  await eventually(async () => (await errorsOf(self.id)).length === 1);
  await hw.untilIdle();
  expect(await hw.untilEvents(self.id, 8)).toHaveLength(8);
  await hw.limit({ maxEventHops: null });
});

test('a source that listens to $errors hears of failures, and of the end of a ring; one that fails at that ends too', async () => {
  await hw.limit({ maxEventHops: 2 });
  const [emitter, alarm] = [await hw.deploy(EMITTER), await hw.deploy(ECHO)];
  await subscribe(emitter.id, alarm.id, '$errors');
  await post(emitter, { fail: true });
  const [failure] = (await heard(alarm.id)) as { error: object }[];
  expect(failure?.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'asked to' });
  const ring = await hw.deploy(`export default { name: 'R', version: '1', run(event) { this.$emit(event); } };`);
  await subscribe(ring.id, ring.id);
  await subscribe(ring.id, alarm.id, '$errors');
  await hw.api('POST', `/sources/${ring.id}/run`, { event: 1 });
  const limits = ((await heard(alarm.id)) as { error: { limit?: object } }[]).map(({ error }) => error.limit);
  expect(limits).toContainEqual({ name: 'maxEventHops', value: 2, used: 3 });
  const failing = await hw.deploy(`export default { name: 'F', version: '1', run() { throw new Error('again'); } };`);
  await subscribe(failing.id, failing.id, '$errors');
  await hw.api('POST', `/sources/${failing.id}/run`, { event: 1 });
  await hw.untilIdle();
  expect(await errorsOf(failing.id)).toHaveLength(4);
  await hw.limit({ maxEventHops: null });
});

test('an event that a deploy hook emits is heard by sources that listen to dc_*', async () => {
  const all = await hw.deploy(ECHO);
  await subscribe('dc_*', all.id, 'from-hook');
  await hw.deploy(`export default { name: 'H', version: '1', hooks: { deploy() { this.$emit({ n: 1 }, { name: 'from-hook' }); } },
    run() {} };`);
  expect(await heard(all.id)).toEqual([{ n: 1 }]);
});
