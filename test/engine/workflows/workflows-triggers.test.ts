import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { echo, makeWorkflow, PASS_ON, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

const put = async (id: string, change: Record<string, unknown>) =>
  (await hw.api('PUT', `/workflows/${id}`, change)).data;
const subscriptionsOf = (id: string) =>
  hw.sql`select emitter_id, event_name from subscriptions where listener_id = ${id} order by emitter_id, event_name`;
/** Events of the executions that wait: the workflows of these tests are paused. */
const waiting = async (id: string) =>
  (await hw.sql<{ event: string }[]>`select event from invocations where source_id = ${id} order by place`).map(
    ({ event }) => JSON.parse(event) as unknown,
  );
const PAUSED = { throttle: { limit: 0, interval_seconds: 60 } };

const FAILING = `export default { name: 'Refuses', version: '1', hooks: { deploy() { throw new Error('no such account'); } }, run() {} };`;
const LISTENED = `export default { name: 'Listened', version: '1', props: { http: '$.interface.http', word: 'string' },
  run(event) { this.$emit({ word: this.word, body: event.body }); this.$emit('aside', { name: 'aside' }); } };`;

test('an HTTP trigger keeps its URL over versions, and a new one gets its own', async () => {
  const made = await makeWorkflow(hw, { triggers: [{ type: 'http' }], steps: [echo('a')] });
  const [first] = made.triggers;
  const second = await put(made.id, { triggers: [{ type: 'http', custom_response: true }, { type: 'http' }] });
  expect(second.triggers[0]).toEqual({ ...first, custom_response: true });
  expect(second.triggers[1].id).not.toBe(first.id);
  expect(second.triggers[1].endpoint_url).not.toBe(first.endpoint_url);
  const third = await put(made.id, { triggers: [{ id: second.triggers[1].id, type: 'http' }] });
  expect(third.triggers).toEqual([second.triggers[1]]);
  expect((await fetch(first.endpoint_url as string)).status).toBe(404);
});

test('a timer keeps its phase at each place in the list while its schedule is the same', async () => {
  const made = await makeWorkflow(hw, { triggers: [{ type: 'timer', interval_seconds: 600 }, { cron: '0 9 * * *' }] });
  const due = () =>
    hw.sql`select prop_name, due_ms, interval_seconds from timers where source_id = ${made.id} order by prop_name`;
  const before = await due();
  const { triggers } = await put(made.id, {
    triggers: [{ type: 'timer', cron: '0 9 * * *' }, { interval_seconds: 600 }],
  });
  expect(triggers).toEqual(made.triggers.toReversed());
  expect(await due()).toEqual(before);
  const changed = await put(made.id, { triggers: [{ type: 'timer', interval_seconds: 900 }] });
  expect(made.triggers.map(({ id }: { id: string }) => id)).toContain(changed.triggers[0].id);
  expect(await due()).toMatchObject([{ interval_seconds: 900 }]);
});

test('events of a source on the channel that is named start the workflow, and no others', async () => {
  const source = await hw.deploy(LISTENED, { word: 'hello' });
  const made = await makeWorkflow(hw, {
    triggers: [{ source_id: source.id }, { type: 'source', source_id: source.id, event_name: 'aside' }],
    settings: PAUSED,
  });
  expect(made.triggers).toEqual([
    { id: source.id, type: 'source', source_id: source.id, event_name: '', deployed: false },
    { id: source.id, type: 'source', source_id: source.id, event_name: 'aside', deployed: false },
  ]);
  await put(made.id, { triggers: [{ source_id: source.id }] });
  await fetch(source.endpoint, { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
  await eventually(async () => (await waiting(made.id)).length > 0, { what: 'the workflow to be started' });
  expect(await waiting(made.id)).toEqual([{ word: 'hello', body: { a: 1 } }]);
});

test('a subscription that was made by hand stays when the triggers change', async () => {
  const [one, two] = [await hw.deploy(PASS_ON), await hw.deploy(PASS_ON)];
  const made = await makeWorkflow(hw, { triggers: [{ source_id: one.id }] });
  await hw.sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values ('sub_byhand', ${hw.accountId}, ${two.id}, ${made.id}, 'x')`;
  await put(made.id, { triggers: [] });
  expect(await subscriptionsOf(made.id)).toEqual([{ emitter_id: two.id, event_name: 'x' }]);
});

test('events of another workflow start a workflow', async () => {
  const first = await makeWorkflow(hw);
  const second = await makeWorkflow(hw, { triggers: [{ source_id: first.id }] });
  expect(await subscriptionsOf(second.id)).toEqual([{ emitter_id: first.id, event_name: '' }]);
});

test('a source of a trigger is deployed with the workflow, kept by updates and deleted with it', async () => {
  const made = await makeWorkflow(hw, {
    triggers: [{ component_code: LISTENED, props: { word: 'x' }, name: 'Its source' }],
    settings: PAUSED,
  });
  const [trigger] = made.triggers;
  expect(trigger).toMatchObject({ type: 'source', event_name: '', deployed: true, id: trigger.source_id });
  const source = (await hw.api('GET', `/sources/${trigger.source_id}`)).data;
  expect(source).toMatchObject({ name: 'Its source', configured_props: { word: 'x' } });
  const kept = await put(made.id, { triggers: made.triggers, steps: [echo('a')] });
  expect(kept.triggers).toEqual(made.triggers);
  await fetch(source.configured_props.http.endpoint_url as string);
  await eventually(async () => (await waiting(made.id)).length > 0, { what: 'the workflow to be started' });
  // An older version may be deployed again, so it stays although this one does not name it.
  await put(made.id, { triggers: [] });
  expect((await hw.api('GET', `/sources/${trigger.source_id}`)).status).toBe(200);
  expect((await hw.api('DELETE', `/workflows/${made.id}`)).status).toBe(204);
  expect((await hw.api('GET', `/sources/${trigger.source_id}`)).status).toBe(404);
});

test('a source that something else is subscribed to stays when its workflow is deleted', async () => {
  const made = await makeWorkflow(hw, { triggers: [{ component_code: PASS_ON }] });
  const sourceId = made.triggers[0].source_id as string;
  const webhook = await hw.api('POST', '/webhooks', { url: 'http://127.0.0.1:99/', name: 'w' });
  await hw.api('POST', '/subscriptions', { emitter_id: sourceId, listener_id: webhook.data.id });
  expect((await hw.api('DELETE', `/workflows/${made.id}`)).status).toBe(204);
  expect((await hw.api('GET', `/sources/${sourceId}`)).status).toBe(200);
});

test('if a later source cannot be deployed, no source and no workflow is left', async () => {
  const count = async () =>
    (await hw.sql`select kind, count(*) from emitters where deleted_at is null group by kind order by kind`) as unknown;
  const before = await count();
  const refused = await hw.api('POST', '/workflows', {
    triggers: [{ component_code: PASS_ON }, { component_code: FAILING }],
  });
  expect(refused.status).toBe(422);
  expect(problemsOf(refused)['triggers.1.hooks.deploy']).toContain('no such account');
  expect(await count()).toEqual(before);
});

test('a change that another one came before is refused, and the source that it deployed is deleted again', async () => {
  const made = await makeWorkflow(hw);
  const gate = await startReceiver();
  gate.answer = { delayMs: 60_000 };
  const code = `export default { name: 'Slow', version: '1', hooks: { async deploy() { await fetch('${gate.url}').catch(() => {}); } }, run() {} };`;
  const slow = hw.api('PUT', `/workflows/${made.id}`, { triggers: [{ component_code: code }] });
  await gate.until(1);
  expect(await put(made.id, { name: 'First' })).toMatchObject({ name: 'First' });
  await gate.stop();
  const refused = await slow;
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('came first')]);
  expect((await hw.api('GET', `/workflows/${made.id}`)).data).toMatchObject({ version: 1, triggers: [] });
  expect(await hw.sql`select from sources where name = 'Slow' and deleted_at is null`).toHaveLength(0);
});

test('a source that is gone does not stand in the way of another version', async () => {
  const source = await hw.deploy(PASS_ON);
  const made = await makeWorkflow(hw, { triggers: [{ source_id: source.id }] });
  await hw.api('DELETE', `/sources/${source.id}`);
  const answer = await hw.api('PUT', `/workflows/${made.id}`, { steps: [echo('a')] });
  expect(answer.status).toBe(200);
  expect(await subscriptionsOf(made.id)).toEqual([]);
});

test('triggers that are wrong are all named', async () => {
  const source = await hw.deploy(PASS_ON);
  const made = await makeWorkflow(hw, { triggers: [{ type: 'http' }] });
  const refused = await hw.api('PUT', `/workflows/${made.id}`, {
    triggers: [
      { type: 'timer', interval_seconds: 0 },
      { cron: 'every day' },
      { type: 'timer', interval_seconds: 60, id: made.triggers[0].id },
      { type: 'http', id: 'hi_unknown' },
      { source_id: source.id },
      { source_id: source.id, event_name: '' },
      { source_id: source.id, event_name: 'x'.repeat(200) },
    ],
  });
  expect(refused.status).toBe(400);
  expect(Object.keys(problemsOf(refused))).toEqual([
    'triggers.0.interval_seconds',
    'triggers.1.cron',
    'triggers.2.id',
    'triggers.3.id',
    'triggers.5',
    'triggers.6.event_name',
  ]);
  const shapes = await hw.api('POST', '/workflows', { triggers: [{}, { type: 'email' }, { type: 'source' }] });
  expect(Object.keys(problemsOf(shapes))).toEqual(['triggers.0.type', 'triggers.1.type', 'triggers.2.source_id']);
  const missing = await hw.api('POST', '/workflows', { triggers: [{ type: 'http' }, { source_id: 'dc_nobody' }] });
  expect([missing.status, Object.keys(problemsOf(missing))]).toEqual([404, ['triggers.1.source_id']]);
});

test('an action is not deployed as the source of a trigger', async () => {
  const refused = await hw.api('POST', '/workflows', { triggers: [{ component_code: echo('a').component_code }] });
  expect(refused.status).toBe(400);
  expect(problemsOf(refused)['triggers.0.component_id']).toContain('is an action');
});

test.each([
  ['maxCronChars', { cron: `0 0 ${'1,'.repeat(400)}1 * *` }],
  ['maxTimerIntervalSeconds', { interval_seconds: 400 * 24 * 3600 }],
] as const)('a timer over %s is refused with the limit, here and in a source', async (name, timer) => {
  const triggers = [{ type: 'timer', ...timer }];
  const code = `export default { name: 'Timed', version: '1', props: { timer: '$.interface.timer' }, run() {} };`;
  for (const refused of [
    await hw.api('POST', '/workflows', { triggers }),
    await hw.api('POST', '/sources', { component_code: code, configured_props: { timer } }),
  ]) {
    expect(refused.status).toBe(400);
    const { limit } = JSON.parse(refused.text) as { limit: { used: number } };
    expect(limit).toEqual({ name, value: LIMITS[name], used: expect.any(Number) });
    expect(limit.used).toBeGreaterThan(LIMITS[name]);
  }
});
