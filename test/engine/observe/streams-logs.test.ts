import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
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

test('a client that reconnects goes on behind its last line, also in the middle of a run', async () => {
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

test('a place that is none of this emitter’s lines is refused; each that was sent is where a stream goes on', async () => {
  const source = await hw.deploy(LOGGER);
  await log(source.endpoint, { count: 2 });
  const steps = [{ namespace: 'logs', code: action(`console.log('1'); console.log('2'); return 1;`) }];
  const flow = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps });
  await post(`${hw.url}/e/${flow.endpointKey}`, {});
  for (const [path, wrong] of [
    [`sources/${source.id}`, '1-exec_a-0'],
    [`workflows/${flow.id}`, '1-2-0'],
  ]) {
    const url = `${hw.url}/v1/${path}/logs`;
    for (const refused of [
      await openEventSource(url, hw.apiKey, wrong),
      await openEventSource(`${url}?last_event_id=${wrong}`, hw.apiKey),
    ])
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('invalid-request')]);
    const stream = await openEventSource(url, hw.apiKey);
    await untilCount(stream, 2);
    stream.close();
    const again = await openEventSource(url, hw.apiKey, stream.messages[0]?.id);
    await untilCount(again, 1);
    const end = await openEventSource(url, hw.apiKey, stream.messages[1]?.id);
    expect([again.status, end.status, lines(again)]).toEqual([200, 200, ['2']]);
    again.close();
    end.close();
  }
});
