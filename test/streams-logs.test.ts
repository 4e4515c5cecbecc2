import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource, type TestEventSource } from './support/event-source.ts';
import { eventually } from './support/eventually.ts';
import { type Headwater, startHeadwater } from './support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

const LOGGER = `export default { name: 'Logger', version: '1', props: { http: '$.interface.http', db: '$.service.db' },
  run({ body }) {
    let n = this.db.get('n') ?? 0;
    for (let i = 0; i < (body?.count ?? 1); i++) console.log(String(++n));
    this.db.set('n', n);
    if (body?.fail) throw new Error('asked to');
  } };`;

async function log(endpoint: string, body: object): Promise<void> {
  await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await hw.untilIdle();
}

const follow = (id: string, lastEventId?: string) =>
  openEventSource(`${hw.url}/v1/sources/${id}/logs`, hw.apiKey, lastEventId);
const lines = ({ messages }: TestEventSource) => messages.map(({ data }) => data.event.message as string);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
const untilCount = (source: TestEventSource, count: number) =>
  eventually(() => source.messages.length >= count, { what: `${count} lines, not ${source.messages.length}` });

test('on connecting the last 100 lines come, the oldest first, then those of each run as it ends', async () => {
  const source = await hw.deploy(LOGGER);
  for (let i = 0; i < 5; i++) await log(source.endpoint, { count: 30 });
  const stream = await follow(source.id);
  await untilCount(stream, 100);
  await log(source.endpoint, { count: 2 });
  await untilCount(stream, 102);
  expect(lines(stream)).toEqual(range(51, 152));
  const { data } = await hw.api('GET', `/sources/${source.id}/$logs/event_summaries`, { limit: 100 });
  expect(stream.messages.slice(-100).map((message) => message.data)).toEqual(data.toReversed());
  expect(stream.messages.at(-1)?.id).toBe(data[0].id);
  stream.close();
});

test('whoever comes back goes on behind the line, also in the middle of a run', async () => {
  const source = await hw.deploy(LOGGER);
  for (let i = 0; i < 4; i++) await log(source.endpoint, { count: 50 });
  const first = await follow(source.id);
  await untilCount(first, 100);
  first.close();
  for (let i = 0; i < 4; i++) await log(source.endpoint, { count: 50 });
  // 101 … 200 were seen: goes on after 117.
  const again = await follow(source.id, first.messages[16]?.id);
  await untilCount(again, 283);
  expect(lines(again)).toEqual(range(118, 400));
  again.close();
});

test('the error that a run failed with is its last line, also of a run that logged nothing', async () => {
  const source = await hw.deploy(LOGGER);
  const stream = await follow(source.id);
  await log(source.endpoint, { count: 0, fail: true });
  await untilCount(stream, 1);
  expect(stream.messages[0]?.data.event).toMatchObject({
    level: 'error',
    code: 'COMPONENT_ERROR',
    message: expect.stringContaining('asked to'),
  });
  stream.close();
});

test('runs that take long are not passed over when later ones end before them', async () => {
  const code = `export default { name: 'Slow', version: '1', props: { http: '$.interface.http' },
    async run({ body }) { await new Promise((done) => setTimeout(done, body.ms)); console.log(body.name); } };`;
  const source = await hw.deploy(code);
  const stream = await follow(source.id);
  const slow = fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ms: 600, name: 'slow' }),
  });
  await slow;
  await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ms: 0, name: 'fast' }),
  });
  await untilCount(stream, 2);
  expect(lines(stream)).toEqual(['fast', 'slow']);
  stream.close();
});

test('a run with more lines than are read at once is given whole, once', async () => {
  const source = await hw.deploy(
    LOGGER.replace('console.log(String(++n))', "console.log(String(++n) + ' ' + 'x'.repeat(8000))"),
  );
  const stream = await follow(source.id);
  await log(source.endpoint, { count: 300 });
  await log(source.endpoint, { count: 300 });
  await untilCount(stream, 600);
  const again = await follow(source.id, stream.messages[0]?.id);
  await untilCount(again, 599);
  expect(lines(stream).map((line) => line.split(' ')[0])).toEqual(range(1, 600));
  expect(lines(again).map((line) => line.split(' ')[0])).toEqual(range(2, 600));
  stream.close();
  again.close();
});
