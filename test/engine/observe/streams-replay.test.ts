import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
const open: TestEventSource[] = [];
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

const QUIET = `export default { name: 'Quiet', version: '1', run() {} };`;
const STREAMS = 30;

/** Stores events as if the source had emitted them, each in a millisecond of its own. */
async function store(sourceId: string, channel: string, count: number, data = '{}'): Promise<void> {
  await hw.sql.begin(async (tx) => {
    await tx`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
      select ${sourceId}, last_event_ms + n, 0, ${hw.accountId}, ${channel}, ${data}
      from emitter_state, generate_series(1, ${count}::int4) n where emitter_id = ${sourceId}`;
    await tx`update emitter_state set last_event_ms = last_event_ms + ${count} where emitter_id = ${sourceId}`;
  });
}

async function follow(id: string, query = ''): Promise<TestEventSource> {
  const stream = await openEventSource(`${hw.url}/v1/sources/${id}/sse${query}`, hw.apiKey);
  open.push(stream);
  return stream;
}

let stored = 0;

/** Number of replayed events. The event stored here marks the end of the replay. */
async function replayed(id: string, query: string, channel: string): Promise<number> {
  const stream = await follow(id, query);
  const last = JSON.stringify({ last: stored++ });
  await store(id, channel, 1, last);
  await eventually(() => JSON.stringify(stream.messages.at(-1)?.data.event) === last);
  return stream.messages.length - 1;
}

test('streams of one account that are opened together look where they begin in turn, others are served', async () => {
  const source = await hw.deploy(QUIET);
  const other = hw.as((await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key);
  const opening = await hw.sql.begin(async (tx) => {
    await tx`lock table events in access exclusive mode`;
    const waiting = async () => {
      // Outside the transaction, which would see the same snapshot each time.
      const rows = await hw.sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from events%'`;
      return rows.length;
    };
    const streams = Array.from({ length: STREAMS }, () => follow(source.id));
    await eventually(async () => (await waiting()) >= LIMITS.maxStreamReadsPerTenant);
    const late = new Promise((resolve) => void setTimeout(resolve, 5_000, 'not answered'));
    expect(await Promise.race([other('GET', '/sources').then(({ status }) => status), late])).toBe(200);
    await eventually(async () => {
      const metrics = await (await fetch(`${hw.url}/metrics`)).text();
      return metrics.includes(`\nheadwater_streams_open ${STREAMS}\n`);
    });
    expect(await waiting()).toBe(LIMITS.maxStreamReadsPerTenant);
    // Begun, but not waited for before the lock is gone.
    return { streams };
  });
  const streams = await Promise.all(opening.streams);
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
});

test('a replay looks no further back than so many events of the emitter, a resumed stream passes all', async () => {
  const source = await hw.deploy(QUIET);
  await store(source.id, 'rare', 3);
  await store(source.id, '', LIMITS.maxStreamScanEvents);
  await store(source.id, 'rare', 2);
  await store(source.id, '', 500);
  expect(await replayed(source.id, '?channel=rare', 'rare')).toBe(2);
  expect(await replayed(source.id, '?channel=rare&last_event_id=0-0', 'rare')).toBe(6);
  expect(await replayed(source.id, '', '')).toBe(LIMITS.recentEvents);
});

test('only messages of the channel count for its replay', async () => {
  const source = await hw.deploy(QUIET);
  const sent = (channel: string) => JSON.stringify({ channel, payload: { n: 1 } });
  const channel = 'a "€😀" \\ %_';
  await store(source.id, '$sse', 3, sent(channel));
  await store(source.id, '$sse', 2 * LIMITS.recentEvents, sent('busy'));
  await store(source.id, '$sse', 2, sent(`${channel}b`));
  expect(await replayed(source.id, `?channel=${encodeURIComponent(channel)}`, channel)).toBe(3);
});
