import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
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

const TALKER = `export default { name: 'Talker', version: '1', props: { http: '$.interface.http' },
  run({ body }) {
    console.log('got', body.n); console.warn('a \\u0000 in it');
    this.$emit({ n: body.n }); this.$emit({ n: -body.n }, { name: 'negative' });
    if (body.fail) throw new Error('failed ' + body.n);
  } };`;

async function send(source: DeployedSource, body: object): Promise<void> {
  await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await hw.untilIdle();
}

async function eventsAt(path: string, parameters: Record<string, unknown> = {}) {
  const { status, data } = await hw.api('GET', path, { limit: 100, ...parameters });
  expect(status).toBe(200);
  return data as { id: string; event: Record<string, unknown>; metadata: { name: string; emit_id: string } }[];
}

async function subscribe(emitterId: string, channel: string, path: string): Promise<void> {
  const webhook = await hw.api('POST', '/webhooks', { url: `${receiver.url}${path}` });
  const key = { emitter_id: emitterId, listener_id: webhook.data.id, event_name: channel };
  expect((await hw.api('POST', '/subscriptions', key)).status).toBe(200);
}

const bodiesAt = (path: string) => receiver.requests.filter(({ url }) => url === path).map(({ body }) => body);

test('event_summaries has all channels but the built-in ones, or one channel by event_name', async () => {
  const source = await hw.deploy(TALKER);
  await send(source, { n: 1, fail: true });
  const at = `/sources/${source.id}/event_summaries`;
  const shown = async (parameters: Record<string, unknown>) =>
    (await eventsAt(at, parameters)).map(({ event }) => event['n'] ?? 'error');
  expect(await shown({})).toEqual([-1, 1]);
  expect(await shown({ event_name: 'negative' })).toEqual([-1]);
  expect(await shown({ event_name: '' })).toEqual([1]);
  expect(await shown({ event_name: 'Negative' })).toEqual([]);
  expect(await shown({ event_name: '$errors', expand: 'event' })).toEqual(['error']);
});

test('$errors/event_summaries has the errors of runs, with the events that started them', async () => {
  const source = await hw.deploy(TALKER);
  await send(source, { n: 1 });
  await send(source, { n: 2, fail: true });
  for (const path of ['$errors', '%24errors']) {
    const errors = await eventsAt(`/sources/${source.id}/${path}/event_summaries`, { expand: 'event' });
    expect(errors).toMatchObject([
      {
        event: { error: { code: 'COMPONENT_ERROR', message: 'failed 2' }, original_event: { body: { n: 2 } } },
        metadata: { name: '$errors' },
      },
    ]);
  }
});

test('$logs/event_summaries has the lines of the newest runs, newest first, also without a subscription', async () => {
  const source = await hw.deploy(TALKER);
  await send(source, { n: 1 });
  await send(source, { n: 2 });
  const lines = await eventsAt(`/sources/${source.id}/$logs/event_summaries`);
  const [{ data: runs }] = [await hw.api('GET', `/sources/${source.id}/runs`)];
  expect(lines.map(({ event }) => [event['level'], event['message'], event['run']])).toEqual([
    ['warn', 'a \u0000 in it', runs[0].id],
    ['info', 'got 2', runs[0].id],
    ['warn', 'a \u0000 in it', runs[1].id],
    ['info', 'got 1', runs[1].id],
  ]);
  expect(lines.every(({ event }) => Number.isInteger(event['ts']))).toBe(true);
  expect(new Set(lines.map(({ metadata }) => metadata.emit_id)).size).toBe(4);
  const few = await eventsAt(`/sources/${source.id}/%24logs/event_summaries`, { limit: 3 });
  expect(few.map(({ metadata }) => metadata.emit_id)).toEqual(
    lines.slice(0, 3).map(({ metadata }) => metadata.emit_id),
  );
  const rest = await eventsAt(`/sources/${source.id}/$logs/event_summaries`, { after: few.at(-1)?.id });
  expect([...few, ...rest]).toEqual(lines);
  const refused = await hw.api('GET', `/sources/${source.id}/$logs/event_summaries`, { after: 'x' });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('after')]);
});

test('lines are found however many runs they are of', async () => {
  const source = await hw.deploy(TALKER);
  for (let n = 1; n <= 11; n++) await send(source, { n });
  const lines = await eventsAt(`/sources/${source.id}/$logs/event_summaries`, { limit: 21 });
  expect(lines).toHaveLength(21);
  expect(
    lines.filter(({ event }) => String(event['message']).startsWith('got')).map(({ event }) => event['message']),
  ).toEqual(Array.from({ length: 10 }, (_, i) => `got ${11 - i}`));
});

test('log lines are stored and delivered as events only while a subscription to $logs exists', async () => {
  const source = await hw.deploy(TALKER);
  await send(source, { n: 1 });
  const stored = async () => (await eventsAt(`/sources/${source.id}/events`, { event_name: '$logs' })).length;
  expect(await stored()).toBe(0);
  await subscribe(source.id, '$logs', '/logs');
  await send(source, { n: 2 });
  expect(await stored()).toBe(2);
  await receiver.until(2);
  const [run] = (await hw.api('GET', `/sources/${source.id}/runs`)).data;
  const delivered = bodiesAt('/logs').map(
    (body) => JSON.parse(body) as { level: string; message: string; run: string },
  );
  expect(delivered.toSorted((a, b) => (a.level < b.level ? -1 : 1))).toMatchObject([
    { level: 'info', message: 'got 2', run: run.id },
    { level: 'warn', message: 'a \u0000 in it', run: run.id },
  ]);
});

test('a source that listens to $logs runs for each line, and its own lines start no run', async () => {
  const source = await hw.deploy(TALKER);
  const listener = await hw.deploy(`export default { name: 'L', version: '1',
    run(event) { console.log('heard', event.message); this.$emit({ heard: event.message }); } };`);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: listener.id, event_name: '$logs' });
  await send(source, { n: 5 });
  const heard = await eventsAt(`/sources/${listener.id}/events`, { event_name: '' });
  expect(new Set(heard.map(({ event }) => event['heard']))).toEqual(new Set(['a \u0000 in it', 'got 5']));
  expect(heard).toHaveLength(2);
});

test('a webhook on one channel gets events of that channel alone', async () => {
  const source = await hw.deploy(TALKER);
  await subscribe(source.id, 'negative', '/negative');
  await subscribe(source.id, '$errors', '/errors');
  await send(source, { n: 7, fail: true });
  await receiver.until(receiver.requests.length);
  await expect.poll(() => bodiesAt('/errors').length).toBe(1);
  await expect.poll(() => bodiesAt('/negative')).toEqual(['{"n":-7}']);
  expect(bodiesAt('/errors')[0]).toContain('failed 7');
});
