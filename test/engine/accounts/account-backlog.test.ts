import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';

let hw: Headwater;

// The rest of one test is counted for some seconds: each has an account of its own.
beforeEach(async () => {
  hw = await sharedHeadwater();
});
afterEach(() => hw.stop());

const component = (run: string) => `
  export default { name: 'Queued', version: '1', props: { http: '$.interface.http' }, run(event) { ${run} } };`;

/** Executions of it wait for as long as it is paused. */
async function pausedWorkflow(triggers: object[] = [{ type: 'http' }]): Promise<{ id: string; endpoint: string }> {
  const { data } = await hw.api('POST', '/workflows', {
    name: 'Paused',
    triggers,
    steps: [
      {
        namespace: 'one',
        component_code: `export default { name: 'One', version: '1', type: 'action', run() { return 1; } };`,
      },
    ],
    settings: { throttle: { limit: 0, interval_seconds: 1 } },
  });
  return {
    id: data.id,
    endpoint: data.triggers.find((trigger: { type: string }) => trigger.type === 'http')?.endpoint_url,
  };
}

const waitingOf = async (id: string) =>
  (await hw.sql`select from invocations where source_id = ${id} and leased_by is null`).length;

const post = (endpoint: string, body = '{}') => fetch(endpoint, { method: 'POST', body });

test('a request that would wait is refused with the limit, accepted ones stay, and other accounts go on at once', async () => {
  const [paused, idle] = [await pausedWorkflow(), await hw.deploy(component('this.$emit(1);'))];
  await hw.limit({ maxQueuedInvocations: 3 });
  for (let i = 0; i < 3; i++) expect((await post(paused.endpoint)).status).toBe(200);
  const refused = await post(paused.endpoint);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ limit: { name: 'maxQueuedInvocations', value: 3, used: 4 } });
  expect(await waitingOf(paused.id)).toBe(3);
  // This node has room for it: it does not wait.
  expect((await post(idle.endpoint)).status).toBe(200);
  expect((await hw.api('POST', `/sources/${idle.id}/run`, {})).status).toBe(200);
  await hw.untilEvents(idle.id, 2);
  expect(await hw.api('POST', `/workflows/${paused.id}/run`, {})).toMatchObject({
    status: 429,
    text: expect.stringContaining('maxQueuedInvocations'),
  });
});

test('events of a run that would be too much for all that hear them are stored, and none of them is heard', async () => {
  const source = await hw.deploy(component('for (let i = 0; i < 3; i++) this.$emit("x".repeat(event.body));'));
  for (let heard = 0; heard < 4; heard++) {
    const listener = await hw.deploy(component('this.$emit("heard");'));
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: listener.id });
  }
  await hw.limit({ maxFanOutBytes: 1024 * 1024 });
  const heard = () => hw.sql`select from events where account_id = ${hw.accountId} and data = '"heard"'`;
  const before = (await heard()).length;
  await post(source.endpoint, '80000');
  await eventually(async () => (await heard()).length === before + 12);
  await post(source.endpoint, '90000');
  await hw.untilEvents(source.id, 6);
  const runs = await hw.api('GET', `/sources/${source.id}/runs`);
  expect(runs.data[0]).toMatchObject({
    status: 'error',
    error: { limit: { name: 'maxFanOutBytes', value: 1024 * 1024, used: 12 * 90_002 } },
  });
  await hw.untilIdle();
  expect(await heard()).toHaveLength(before + 12);
});

test('there is room again once something of it is gone', async () => {
  const [first, second] = [await pausedWorkflow(), await pausedWorkflow()];
  await hw.limit({ maxQueuedInvocations: 1 });
  expect((await post(first.endpoint)).status).toBe(200);
  expect((await post(second.endpoint)).status).toBe(429);
  await hw.api('DELETE', `/workflows/${first.id}`);
  await eventually(async () => (await post(second.endpoint)).status === 200, { timeoutMs: 15_000, everyMs: 250 });
});

test('the bytes that wait are counted, and so is the one that is on its way', async () => {
  const paused = await pausedWorkflow();
  await hw.limit({ maxQueuedBytes: 100_000 });
  expect((await post(paused.endpoint, 'x'.repeat(30_000))).status).toBe(200);
  const refused = await post(paused.endpoint, 'x'.repeat(30_000));
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { limit: { name: 'maxQueuedBytes', value: 100_000 } },
  ]);
  expect((await post(paused.endpoint, 'x')).status).toBe(200);
});

test('a tick of a workflow that would wait is passed over, and the next one comes', async () => {
  const paused = await pausedWorkflow([{ type: 'http' }, { type: 'timer', interval_seconds: 1 }]);
  await hw.limit({ maxQueuedInvocations: 2 });
  await eventually(async () => (await waitingOf(paused.id)) === 2, { timeoutMs: 15_000 });
  const due = async () =>
    (await hw.sql`select due_ms from timers where source_id = ${paused.id}`)[0]?.['due_ms'] as number;
  const before = await due();
  await eventually(async () => (await due()) > before, { timeoutMs: 15_000 });
  expect(await waitingOf(paused.id)).toBe(2);
  await hw.limit({ maxQueuedInvocations: 3 });
  await eventually(async () => (await waitingOf(paused.id)) === 3, { timeoutMs: 15_000 });
});

test('events that no listener can take are stored, the run fails with the limit, and the trace names the listeners that missed them', async () => {
  const source = await hw.deploy(component('this.$emit(event.body);'));
  const paused = await pausedWorkflow();
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: paused.id });
  await hw.limit({ maxQueuedInvocations: 1 });
  await post(source.endpoint, '"first"');
  await hw.untilEvents(source.id, 1);
  await post(source.endpoint, '"second"');
  const [, second] = await hw.untilEvents(source.id, 2);
  expect(await waitingOf(paused.id)).toBe(1);
  const [run] = (await hw.api('GET', `/sources/${source.id}/runs`)).data;
  expect(run.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxQueuedInvocations', value: 1, used: 2 },
  });
  const trace = (await hw.api('GET', `/traces/${run.id}`)).data;
  const heard = trace.runs[0].events.find((event: { id: string }) => second?.id.endsWith(event.id));
  expect(heard?.listeners ?? trace.runs[0].events[0].listeners).toMatchObject([
    { listener_id: paused.id, outcome: 'missed', reason: 'backlog_full' },
  ]);
});

async function webhookAt(url: string, emitterId: string): Promise<string> {
  const { data } = await hw.api('POST', '/webhooks', { url });
  await hw.api('POST', '/subscriptions', { emitter_id: emitterId, listener_id: data.id });
  return data.id;
}

const untilRetried = (count: number) =>
  eventually(async () => {
    const rows = await hw.sql`
      select from deliveries
      where account_id = ${hw.accountId} and status = 'pending' and leased_by is null and attempt_count > 0`;
    return rows.length === count;
  });

test('deliveries that would wait beyond the limit are not made, and are made again once there is room', async () => {
  const receiver = await startReceiver();
  await receiver.stop();
  const source = await hw.deploy(component('this.$emit(event.body);'));
  const webhooks = 40;
  for (let n = 0; n < webhooks; n++) await webhookAt(receiver.url, source.id);
  const deliveries = () => hw.sql`select from deliveries where account_id = ${hw.accountId}`;
  await post(source.endpoint, '1');
  await untilRetried(webhooks);
  // None of them has its share.
  await hw.limit({ maxQueuedDeliveries: webhooks });
  // Once it was counted.
  let sent = 1;
  await eventually(
    async () => {
      await post(source.endpoint, String(++sent));
      await hw.untilEvents(source.id, sent);
      return (await deliveries()).length < webhooks * sent;
    },
    { timeoutMs: 20_000, everyMs: 500 },
  );
  const [run] = (await hw.api('GET', `/sources/${source.id}/runs`)).data;
  expect(run.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxQueuedDeliveries', value: webhooks } });
  const before = (await deliveries()).length;
  await hw.limit({ maxQueuedDeliveries: null });
  await post(source.endpoint, 'null');
  await eventually(async () => (await deliveries()).length === before + webhooks);
});

test('a webhook that is down takes half of the queue, and the others get their deliveries', async () => {
  const [gone, there] = [await startReceiver(), await startReceiver()];
  await gone.stop();
  const source = await hw.deploy(component('this.$emit(event.body);'));
  const down = await webhookAt(gone.url, source.id);
  await webhookAt(there.url, source.id);
  let sent = 20;
  for (let n = 0; n < sent; n++) await post(source.endpoint);
  await untilRetried(sent);
  await hw.limit({ maxQueuedDeliveries: 2 * sent });
  const toDown = () => hw.sql`select from deliveries where webhook_id = ${down}`;
  await eventually(
    async () => {
      await post(source.endpoint);
      sent++;
      await eventually(() => there.requests.length === sent);
      return (await toDown()).length < sent;
    },
    { timeoutMs: 20_000, everyMs: 500 },
  );
  expect((await hw.api('GET', `/sources/${source.id}/runs`)).data).toEqual([]);
  await there.stop();
});
