import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());
beforeEach(async () => {
  const isQuiet = async () =>
    (await (await fetch(`${hw.url}/metrics`)).text()).includes('\nheadwater_streams_open 0\n');
  await eventually(isQuiet, { what: 'all streams to be closed' });
});

/** Emits as many events as it is told, numbered by its own count. */
const COUNTER = `export default { name: 'Counter', version: '1', props: { http: '$.interface.http', db: '$.service.db' },
  run({ body }) {
    let n = this.db.get('n') ?? 0;
    for (let i = 0; i < (body?.count ?? 1); i++) {
      n += 1;
      this.$emit({ n, ...body.with }, { id: String(n), ...(body?.name ? { name: body.name } : {}) });
    }
    this.db.set('n', n);
  } };`;

async function emit(endpoint: string, body: object): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  await hw.untilIdle();
}

const follow = (id: string, query = '', lastEventId?: string) =>
  openEventSource(`${hw.url}/v1/sources/${id}/sse${query}`, hw.apiKey, lastEventId);

const numbers = ({ messages }: TestEventSource) => messages.map(({ data }) => data.event.n as number);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const untilCount = (source: TestEventSource, count: number) =>
  eventually(() => source.messages.length >= count, { what: `${count} messages, not ${source.messages.length}` });

test('on connecting the last 100 events come, the oldest first, then every event as it is stored', async () => {
  const source = await hw.deploy(COUNTER);
  await emit(source.endpoint, { count: 130 });
  const stream = await follow(source.id);
  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.headers.get('cache-control')).toBe('no-store');
  await untilCount(stream, 100);
  await emit(source.endpoint, { count: 3 });
  await untilCount(stream, 103);
  expect(numbers(stream)).toEqual(range(31, 133));
  stream.close();
});

test('a message is the record of event_summaries: its id that of the event, its name the channel', async () => {
  const source = await hw.deploy(COUNTER);
  await emit(source.endpoint, { with: { text: 'x'.repeat(3000), line: 'a\nb\u2028' } });
  await emit(source.endpoint, { name: 'orders' });
  const stream = await follow(source.id, '?expand=event');
  await untilCount(stream, 2);
  const { data } = await hw.api('GET', `/sources/${source.id}/event_summaries`, { expand: 'event' });
  expect(stream.messages.map((message) => message.data).toReversed()).toEqual(data);
  expect(stream.messages.map(({ id, event }) => [id, event])).toEqual([
    [data[1].id, 'message'],
    [data[0].id, 'orders'],
  ]);
  stream.close();
  const cut = await follow(source.id);
  await untilCount(cut, 2);
  expect(cut.messages[0]?.data).toMatchObject({ event_truncated: true, event: expect.stringMatching(/^\{"n":1/) });
  cut.close();
});

test('a client that reconnects with the last id gets all missed events, also very many', async () => {
  const source = await hw.deploy(COUNTER);
  await emit(source.endpoint, { count: 10 });
  const before = await follow(source.id);
  await untilCount(before, 10);
  before.close();
  await emit(source.endpoint, { count: 340 });
  const lastId = before.messages[7]?.id ?? '';
  const byHeader = await follow(source.id, '?last_event_id=1-1', lastId);
  const byParameter = await follow(source.id, `?last_event_id=${lastId}`);
  await untilCount(byHeader, 342);
  await untilCount(byParameter, 342);
  expect(numbers(byHeader)).toEqual(range(9, 350));
  expect(numbers(byParameter)).toEqual(range(9, 350));
  byHeader.close();
  byParameter.close();
});

test('connections that break all the time lose nothing and repeat nothing', async () => {
  const source = await hw.deploy(COUNTER);
  const seen: number[] = [];
  let lastId: string | undefined;
  let isOver = false;
  const reading = (async () => {
    while (!isOver || seen.length < 300) {
      const stream = await follow(source.id, '', lastId);
      await Promise.race([
        stream.ended,
        eventually(() => stream.messages.length > 4 || isOver, { timeoutMs: 500 }),
      ]).catch(() => undefined);
      stream.close();
      await stream.ended;
      seen.push(...numbers(stream));
      lastId = stream.messages.at(-1)?.id ?? lastId;
    }
  })();
  for (let i = 0; i < 60; i++) await emit(source.endpoint, { count: 5 });
  isOver = true;
  await reading;
  expect(seen).toEqual(range(1, 300));
});

test('one channel alone can be followed, also where others are busy', async () => {
  const source = await hw.deploy(COUNTER);
  await emit(source.endpoint, { count: 150 });
  const orders = await follow(source.id, '?channel=orders');
  const plain = await follow(source.id, '?channel=');
  await emit(source.endpoint, { count: 2, name: 'orders' });
  await emit(source.endpoint, { count: 1 });
  await untilCount(orders, 2);
  await untilCount(plain, 101);
  expect(numbers(orders)).toEqual([151, 152]);
  expect(numbers(plain)).toEqual([...range(51, 150), 153]);
  orders.close();
  plain.close();
});

test('an event that another node commits reaches the stream', async () => {
  const source = await hw.deploy(COUNTER);
  const stream = await follow(source.id);
  await emit(source.endpoint, {});
  await untilCount(stream, 1);
  // As another node would: this one is not told.
  await hw.sql.begin(async (tx) => {
    await tx`update emitter_state set last_event_ms = last_event_ms + 1 where emitter_id = ${source.id}`;
    await tx`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
      select ${source.id}, last_event_ms, 0, account_id, '', '{"n":2}' from emitter_state where emitter_id = ${source.id}`;
  });
  await untilCount(stream, 2);
  expect(numbers(stream)).toEqual([1, 2]);
  stream.close();
});

test('the stream of a source that is deleted ends', async () => {
  const source = await hw.deploy(COUNTER);
  const stream = await follow(source.id);
  await hw.api('DELETE', `/sources/${source.id}`);
  await stream.ended;
  expect((await follow(source.id)).status).toBe(404);
});

test('an id that is none is refused by name, and so is one stream too many', async () => {
  const source = await hw.deploy(COUNTER);
  const refused = await follow(source.id, '?last_event_id=yesterday');
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('last_event_id');
  expect((await openEventSource(`${hw.url}/v1/workflows/${source.id}/sse`, hw.apiKey)).status).toBe(404);
  await hw.limit({ maxStreams: 2 });
  const [one, two, three] = [await follow(source.id), await follow(source.id), await follow(source.id)];
  expect([one.status, two.status, three.status]).toEqual([200, 200, 429]);
  expect(JSON.parse(await three.text())).toMatchObject({ limit: { name: 'maxStreams', value: 2, used: 3 } });
  one.close();
  // The place of one that is gone is free again.
  const next = await eventually(async () => {
    const stream = await follow(source.id);
    return stream.status === 200 && stream;
  });
  next.close();
  two.close();
  await hw.limit({ maxStreams: null });
});

test('HEAD opens no stream', async () => {
  const source = await hw.deploy(COUNTER);
  await hw.limit({ maxStreams: 1 });
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${hw.url}/v1/sources/${source.id}/sse`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${hw.apiKey}` },
    });
    expect(response.status).toBe(200);
  }
  const stream = await follow(source.id);
  expect(stream.status).toBe(200);
  stream.close();
  await hw.limit({ maxStreams: null });
});
