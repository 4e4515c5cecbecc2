import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceReplay } from '../../../engine/src/runs/replays/advance-replay.sql.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
let receiver: Receiver;
let other: Headwater['api'];
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
  other = hw.as((await hw.admin('POST', '/accounts', { name: 'other' })).data.api_key);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

const EMITTER = `export default { name: 'Emitter', version: '1', props: { http: '$.interface.http' },
  run({ body }) { for (const one of body) this.$emit(one, { name: one.channel }); } };`;
const HEARING = `export default { name: 'Hearing', version: '1', run(event) { this.$emit(event); } };`;
const STEP = `export default { name: 'Step', version: '1', type: 'action', run() { return 1; } };`;

/** A source with `count` events `{ n }`, the oldest first. */
async function emitter(count: number, more: (n: number) => object = () => ({})): Promise<DeployedSource> {
  const source = await hw.deploy(EMITTER);
  const body = Array.from({ length: count }, (_, n) => ({ n, ...more(n) }));
  const headers = { 'content-type': 'application/json' };
  await fetch(source.endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
  await hw.untilIdle();
  return source;
}

async function webhook(name: string): Promise<string> {
  return (await hw.api('POST', '/webhooks', { url: `${receiver.url}/${name}`, name })).data.id;
}

async function replay(emitter_id: string, listener_id: string, more: object = {}): Promise<Json> {
  const { status, data, text } = await hw.api('POST', '/replays', { emitter_id, listener_id, ...more });
  expect({ status, text }).toMatchObject({ status: 200 });
  return data;
}

const replayOf = async (id: string): Promise<Json> => (await hw.api('GET', `/replays/${id}`)).data;
const requestsTo = (name: string) => receiver.requests.filter(({ url }) => url === `/${name}`);
const sentTo = (name: string) => requestsTo(name).map(({ body }) => JSON.parse(body).n as number);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const inOrder = (numbers: number[]) => numbers.toSorted((a, b) => a - b);

test('past events go to a webhook that was not there, each once, with the id that the event always has', async () => {
  const source = await emitter(40);
  const hook = await webhook('new');
  const made = await replay(source.id, hook);
  expect(made).toMatchObject({
    status: 'running',
    count: 40,
    count_is_complete: true,
    delivered_before: 0,
    warning: null,
  });
  await expect.poll(async () => (await replayOf(made.id)).status, { timeout: 60_000 }).toBe('done');
  await expect.poll(() => sentTo('new').length, { timeout: 60_000 }).toBe(40);
  expect(inOrder(sentTo('new'))).toEqual(upTo(40));
  expect(await replayOf(made.id)).toMatchObject({ sent: 40, ended_at: expect.any(Number) });
  const { data: deliveries } = await hw.api('GET', `/webhooks/${hook}/deliveries`, { limit: 100 });
  expect(new Set(deliveries.map((one: Json) => one.replay_id))).toEqual(new Set([made.id]));
  expect(deliveries[0].attempts[0].trigger).toBe('replay');
  const [first] = requestsTo('new');
  expect(first?.headers['headwater-replay-id']).toBe(made.id);
  // Again: the warning counts the repeated events, and their ids stay.
  const again = await replay(source.id, hook, { rate_per_second: 1_000 });
  expect(again).toMatchObject({ count: 40, delivered_before: 40 });
  expect(again.warning).toContain('40 of these events before');
  await expect.poll(() => sentTo('new').length, { timeout: 60_000 }).toBe(80);
  expect(new Set(requestsTo('new').map(({ headers }) => headers['webhook-id'])).size).toBe(40);
});

test('a dry run counts and sends nothing; channel, filter, ids and times narrow it', async () => {
  const source = await emitter(10, (n) => (n < 4 ? { channel: 'order.created' } : {}));
  const hook = await webhook('narrow');
  const count = async (more: object) => (await replay(source.id, hook, { ...more, dry_run: true })).count;
  const { data: events } = await hw.api('GET', `/sources/${source.id}/event_summaries`, { expand: 'event' });
  const idOf = (n: number): string => events.find((one: Json) => one.event.n === n).id;
  expect(await count({})).toBe(10);
  expect(await count({ event_name: 'order.*' })).toBe(4);
  expect(await count({ event_name: '' })).toBe(6);
  expect(await count({ filter: { n: { $gte: 3 } } })).toBe(7);
  expect(await count({ filter: { n: { $gte: 3 } }, event_name: 'order.*' })).toBe(1);
  expect(await count({ ids: [idOf(2), `${source.id}-${idOf(7)}`, idOf(2)] })).toBe(2);
  expect(await count({ since: new Date(Date.now() - 3_600_000).toISOString() })).toBe(10);
  expect(await count({ until: new Date(Date.now() - 3_600_000).toISOString() })).toBe(0);
  const dry = await replay(source.id, hook, { dry_run: true });
  expect(dry).toMatchObject({ id: null, status: 'dry_run', sent: 0 });
  await replay(source.id, hook, { ids: [idOf(2), idOf(7)], filter: { n: 7 } });
  await expect.poll(() => sentTo('narrow')).toEqual([7]);
  expect((await hw.api('GET', '/replays')).data.every((one: Json) => one.id !== null)).toBe(true);
});

test('sources and workflows run for past events, and their trace is that of the event', async () => {
  const source = await emitter(3);
  const hearing = await hw.deploy(HEARING);
  const step = await hw.api('POST', '/components', { component_code: STEP });
  const { data: workflow } = await hw.api('POST', '/workflows', {
    name: 'Replayed',
    steps: [{ namespace: 'one', component_id: step.data.id }],
  });
  await replay(source.id, hearing.id);
  const heard = await hw.untilEvents(hearing.id, 3);
  expect(inOrder(heard.map(({ event }) => event.n as number))).toEqual([0, 1, 2]);
  const toWorkflow = await replay(source.id, workflow.id, { filter: { n: 2 } });
  expect(toWorkflow.count).toBe(1);
  const executions = async () => (await hw.api('GET', `/workflows/${workflow.id}/executions`)).data;
  await expect.poll(async () => (await executions()).map((one: Json) => one.status)).toEqual(['succeeded']);
  const [execution] = await executions();
  const { data: trace } = await hw.api('GET', `/traces/${execution.id}`);
  expect(trace.runs[0].emitter_id).toBe(source.id);
  expect((await replay(source.id, workflow.id, { dry_run: true })).delivered_before).toBe(1);
});

test('a replay at a rate is cancelled, its sent events stay, and a second cancel says that it has ended', async () => {
  const source = await emitter(500);
  const hook = await webhook('cancelled');
  const { id } = await replay(source.id, hook, { rate_per_second: 1 });
  await expect.poll(async () => (await replayOf(id)).sent).toBeGreaterThan(0);
  const cancelled = await hw.api('DELETE', `/replays/${id}`);
  expect(cancelled.data).toMatchObject({ id, status: 'cancelled' });
  const { sent } = cancelled.data;
  expect(sent).toBeLessThan(500);
  expect((await hw.api('DELETE', `/replays/${id}`)).status).toBe(409);
  await expect.poll(() => sentTo('cancelled').length).toBe(sent);
  await advanceReplay(hw.sql, id, Date.now);
  expect((await replayOf(id)).sent).toBe(sent);
});

test('turns that are cut off, or made twice at once, neither repeat nor leave out an event', async () => {
  const source = await emitter(120);
  const hook = await webhook('cut-off');
  const { id } = await replay(source.id, hook, { rate_per_second: 1 });
  // A commit that is lost takes cursor, deliveries and job along.
  const lost = hw.sql.begin(async (tx) => {
    await tx`update replays set cursor_ms = 9999999999999 where id = ${id}`;
    throw new Error('cut off');
  });
  await expect(lost).rejects.toThrow('cut off');
  await hw.sql`update replays set rate_per_second = 7 where id = ${id}`;
  const turns = async () => {
    for (let turn = 0; turn < 40; turn++) {
      await advanceReplay(hw.sql, id, Date.now);
      await hw.sql`update deliveries set status = 'delivered' where webhook_id = ${hook} and status = 'pending' and leased_by is null`;
    }
  };
  await Promise.all([turns(), turns(), turns()]);
  expect(await replayOf(id)).toMatchObject({ status: 'done', sent: 120 });
  const rows = await hw.sql<{ event: string }[]>`
    select indexed_at_ms || '-' || seq as event from deliveries where webhook_id = ${hook}`;
  expect([rows.length, new Set(rows.map(({ event }) => event)).size]).toEqual([120, 120]);
});

test('a replay waits while its webhook is stopped or has much waiting, and fails where it is deleted', async () => {
  const source = await emitter(5);
  const hook = await webhook('waits');
  const { id } = await replay(source.id, hook, { rate_per_second: 1 });
  await expect.poll(async () => (await replayOf(id)).sent).toBeGreaterThan(0);
  await hw.api('PUT', `/webhooks/${hook}`, { active: false });
  expect(await advanceReplay(hw.sql, id, Date.now)).toBeUndefined();
  expect((await hw.api('POST', '/replays', { emitter_id: source.id, listener_id: hook })).status).toBe(409);
  await hw.api('DELETE', `/webhooks/${hook}`);
  await expect.poll(async () => (await replayOf(id)).status, { timeout: 60_000 }).toBe('failed');
  expect((await replayOf(id)).error).toContain(hook);
});

test('ids of another account are unknown as emitter, listener and replay', async () => {
  const source = await emitter(1);
  const hook = await webhook('mine');
  const foreignHook = (await other('POST', '/webhooks', { url: `${receiver.url}/foreign` })).data.id;
  for (const [emitter_id, listener_id, path] of [
    [source.id, foreignHook, 'emitter_id'],
    ['dc_none', hook, 'emitter_id'],
    [source.id, hook, 'emitter_id'],
  ]) {
    const refused = await other('POST', '/replays', { emitter_id, listener_id, dry_run: true });
    expect({ status: refused.status, path: JSON.parse(refused.text).errors[0].path }).toEqual({ status: 404, path });
  }
  const foreign = await hw.api('POST', '/replays', { emitter_id: source.id, listener_id: foreignHook });
  expect(foreign.status).toBe(404);
  expect(JSON.parse(foreign.text).errors[0].path).toBe('listener_id');
  const { id } = await replay(source.id, hook);
  expect((await other('GET', `/replays/${id}`)).status).toBe(404);
  expect((await other('DELETE', `/replays/${id}`)).status).toBe(404);
  expect((await other('GET', '/replays')).data).toEqual([]);
});

test('a wrong parameter is refused by name, and the replays under way of an account are bounded', async () => {
  const source = await emitter(300);
  const hook = await webhook('many');
  const base = { emitter_id: source.id, listener_id: hook };
  for (const [more, path] of [
    [{ ids: ['nonsense'] }, 'ids[0]'],
    [{ rate_per_second: 0 }, 'rate_per_second'],
    [{ filter: { a: { $regex: 'x' } } }, 'filter.a.$regex'],
    [{ since: '2026-11-21', until: '2026-11-20' }, 'since'],
  ] as const) {
    const refused = await hw.api('POST', '/replays', { ...base, ...more });
    expect({ status: refused.status, path: JSON.parse(refused.text).errors[0].path }).toEqual({ status: 400, path });
  }
  const running = async () =>
    (await hw.api('GET', '/replays')).data.filter((one: Json) => one.status === 'running').length as number;
  for (let made = await running(); made < LIMITS.maxRunningReplays; made++)
    await replay(source.id, hook, { rate_per_second: 1 });
  const refused = await hw.api('POST', '/replays', base);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('maxRunningReplays');
});
