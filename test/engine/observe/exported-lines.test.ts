import { afterAll, beforeAll, expect, test } from 'vitest';
import { lineStream } from '../../../api/src/export-lines.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

interface Line {
  id: string;
  event: { n: number; text?: string };
  event_truncated: boolean;
  metadata: { emit_id: string };
}

const ask = (
  path: string,
  { key = hw.apiKey, accept = 'application/x-ndjson', ...init }: RequestInit & { key?: string; accept?: string } = {},
) => fetch(`${hw.url}/v1${path}`, { ...init, headers: { accept, authorization: `Bearer ${key}` } });

async function lines(path: string): Promise<Line[]> {
  const answer = await ask(path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const text = await answer.text();
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
}

async function publish(tenant: Headwater, events: readonly unknown[]): Promise<string> {
  const { data: source } = await tenant.api('POST', '/sources', { kind: 'ingest', name: 'All' });
  for (let from = 0; from < events.length; from += 100) {
    const batch = events.slice(from, from + 100).map((data) => ({ data }));
    expect((await tenant.api('POST', `/sources/${source.id}/events`, { events: batch })).status).toBe(200);
  }
  return source.id;
}

const downTo = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);
const numbers = (found: readonly Line[]) => found.map(({ event }) => event.n);

test('all events that a search finds come, whole and newest first, and go on behind any of them', async () => {
  const id = await publish(
    hw,
    Array.from({ length: 250 }, (_, n) => ({ n, text: 'x'.repeat(n % 50 === 0 ? 20_000 : 10) })),
  );
  const path = `/events?emitter_id=${id}`;
  const all = await lines(path);
  expect(numbers(all)).toEqual(downTo(249, 0));
  expect(all.every(({ event_truncated: isCut, event }) => !isCut && typeof event.text === 'string')).toBe(true);
  const rest = await lines(`${path}&after=${all[119]?.metadata.emit_id}`);
  expect(numbers(rest)).toEqual(downTo(129, 0));
  const filter = encodeURIComponent(JSON.stringify({ n: { $lt: 30 } }));
  expect(numbers(await lines(`${path}&filter=${filter}`))).toEqual(downTo(29, 0));
  expect(await lines(`${path}&since=${Date.now() + 60_000}`)).toEqual([]);
  const other = await hw.newAccount();
  expect((await ask(path, { key: other.apiKey })).status).toBe(404);
  expect(await (await ask('/events', { key: other.apiKey })).text()).toBe('');
  const { data, page_info: info } = JSON.parse(
    (await hw.api('GET', '/events', { emitter_id: id, limit: 100 })).text,
  ) as {
    data: unknown[];
    page_info: { count: number };
  };
  expect([data.length, info.count]).toEqual([100, 100]);
}, 60_000);

test('events that have no room on one page are whole all the same', async () => {
  const tenant = await hw.newAccount();
  const big = 5_500_000;
  await tenant.limit({ maxEventBytes: 6 * 1024 * 1024 });
  const { data: source } = await tenant.api('POST', '/sources', { kind: 'ingest', name: 'Big' });
  for (let n = 0; n < 4; n++) {
    const made = await tenant.api('POST', `/sources/${source.id}/events`, {
      events: [{ data: { n, text: 'x'.repeat(big) } }],
    });
    expect(made.status).toBe(200);
  }
  const text = await (await ask(`/events?emitter_id=${source.id}`, { key: tenant.apiKey })).text();
  const found = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  expect(numbers(found)).toEqual([3, 2, 1, 0]);
  expect(found.every(({ event }) => event.text?.length === big)).toBe(true);
}, 60_000);

test('the audit log is exported, and goes on behind an entry', async () => {
  const tenant = await hw.newAccount();
  for (let n = 0; n < 3; n++) await tenant.api('POST', '/data_stores', { name: `Store ${n}` });
  const read = async (query = '') => {
    const text = await (await ask(`/audit${query}`, { key: tenant.apiKey })).text();
    return text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { id: string; action: string });
  };
  const all = await read();
  expect(all.map(({ action }) => action)).toEqual(['createDataStore', 'createDataStore', 'createDataStore']);
  expect(await read(`?after=${all[0]?.id}`)).toEqual(all.slice(1));
});

test('a wrong export is refused with a problem, and an abandoned download leaves no export open', async () => {
  const wrong = await ask('/events?since=yesterday');
  expect([wrong.status, wrong.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
  const tenant = await hw.newAccount();
  const { data: source } = await tenant.api('POST', '/sources', { kind: 'ingest', name: 'Left' });
  await tenant.limit({ maxEventBytes: 6 * 1024 * 1024 });
  // More than a socket takes unread.
  for (let n = 0; n < 4; n++)
    await tenant.api('POST', `/sources/${source.id}/events`, {
      events: [{ data: { n, text: 'x'.repeat(5_500_000) } }],
    });
  const leaving = new AbortController();
  const { signal } = leaving;
  const open = () => ask('/events', { key: tenant.apiKey, signal });
  const opened = await Promise.all(Array.from({ length: LIMITS.maxExportsPerTenant }, open));
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
  const refused = await open();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  leaving.abort();
  await eventually(async () => {
    const again = await ask('/events', { key: tenant.apiKey, method: 'HEAD' });
    return again.status === 200;
  });
}, 60_000);

test('an export whose next page cannot be read is cut off, not ended', async () => {
  const events: string[] = [];
  const body = await lineStream({
    list: { parameters: {}, cursorOf: () => 'x' },
    async readPage(after) {
      if (after !== undefined) throw new Error('away');
      return { items: [{ text: 'a\nb' }], total: 1, endCursor: 'x' };
    },
    isAdmitted: async () => true,
    onBytes: (bytes) => events.push(`${bytes} bytes`),
    cutOff: () => events.push('cut off'),
    onError: (error) => events.push((error as Error).message),
    onEnd: () => events.push('end'),
  });
  const reader = body.getReader();
  const first = await reader.read();
  expect(new TextDecoder().decode(first.value)).toBe('{"text":"a\\nb"}\n');
  void reader.read();
  await eventually(() => events.includes('cut off'));
  expect(events).toEqual(['16 bytes', 'away', 'end', 'cut off']);
});
