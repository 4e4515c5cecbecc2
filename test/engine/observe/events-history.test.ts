import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

interface Shown {
  id: string;
  event: { n: number };
}
interface HistoryPage {
  page_info: { total_count: number; count: number; start_cursor: string | null; end_cursor: string | null };
  data: Shown[];
}

let hw: Headwater;
let source: DeployedSource;
beforeAll(async () => {
  hw = await sharedHeadwater();
  source = await hw.deploy(`export default { name: 'Many', version: '1',
    run({ from, to, name }) { for (let n = from; n <= to; n++) this.$emit({ n }, { name }); } };`);
  await run({ from: 1, to: 150 });
  await run({ from: 151, to: 250 });
});
afterAll(() => hw.stop());

async function run(event: object): Promise<void> {
  await hw.api('POST', `/sources/${source.id}/run`, { event });
  await hw.untilIdle();
}

async function page(parameters: Record<string, unknown>): Promise<HistoryPage> {
  const { status, text } = await hw.api('GET', `/sources/${source.id}/events`, parameters);
  expect(status).toBe(200);
  return JSON.parse(text) as HistoryPage;
}

const numbers = ({ data }: HistoryPage) => data.map(({ event }) => event.n);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

test('event_summaries shows the most recent 100 events and no more, however many are asked for', async () => {
  const { data } = await hw.api('GET', `/sources/${source.id}/event_summaries`, { limit: 100 });
  expect(data.map(({ event }: Shown) => event.n)).toEqual(down(250, 151));
  const more = await hw.api('GET', `/sources/${source.id}/event_summaries`, { limit: 101 });
  expect([more.status, more.text]).toEqual([400, expect.stringContaining('limit')]);
});

test('event_summaries has pages, which end with the 100th event', async () => {
  const seen: number[] = [];
  let after: string | null = null;
  for (;;) {
    const path = `/sources/${source.id}/event_summaries`;
    const { text } = await hw.api('GET', path, { limit: 30, ...(after === null ? {} : { after }) });
    const shown = JSON.parse(text) as HistoryPage;
    expect(shown.page_info).toMatchObject({ total_count: 100, count: shown.data.length });
    if (shown.data.length === 0) break;
    seen.push(...numbers(shown));
    after = shown.page_info.end_cursor;
  }
  expect(seen).toEqual(down(250, 151));
  const { data } = await page({ limit: 1, after: (await page({ limit: 100 })).data.at(-1)?.id });
  const below = await hw.api('GET', `/sources/${source.id}/event_summaries`, { before: data[0]?.id, limit: 2 });
  expect(below.data.map(({ event }: Shown) => event.n)).toEqual([152, 151]);
});

test('the whole history is there in pages, newest first, each event once', async () => {
  const seen: number[] = [];
  let after: string | null = null;
  for (;;) {
    const shown: HistoryPage = await page({ limit: 60, ...(after === null ? {} : { after }) });
    expect(shown.page_info).toMatchObject({ total_count: 250, count: shown.data.length });
    if (shown.data.length === 0) break;
    seen.push(...numbers(shown));
    after = shown.page_info.end_cursor;
  }
  expect(seen).toEqual(down(250, 1));
});

test('before returns the events right after an event, so that a reader goes on from its last id', async () => {
  const all = (await page({ limit: 100 })).data;
  const seen = all[50];
  expect(numbers(await page({ before: seen?.id, limit: 3 }))).toEqual([203, 202, 201]);
  expect(numbers(await page({ before: all[0]?.id }))).toEqual([]);
  await run({ from: 251, to: 252 });
  expect(numbers(await page({ before: all[0]?.id }))).toEqual([252, 251]);
  await hw.api('DELETE', `/sources/${source.id}/events?start_id=${(await page({ limit: 2 })).data[1]?.id}`);
});

test('start_id and end_id bound it, both included, and are counted within', async () => {
  const all = (await page({ limit: 100 })).data;
  const [newest, oldest] = [all[10], all[20]];
  const shown = await page({ start_id: oldest?.id, end_id: newest?.id, limit: 5 });
  expect(numbers(shown)).toEqual(down(240, 236));
  expect(shown.page_info.total_count).toBe(11);
  const next = await page({ start_id: oldest?.id, end_id: newest?.id, after: shown.page_info.end_cursor, limit: 50 });
  expect(numbers(next)).toEqual(down(235, 230));
});

test('a channel has a history of its own', async () => {
  await run({ from: 1, to: 3, name: 'other' });
  expect(numbers(await page({ event_name: 'other' }))).toEqual([3, 2, 1]);
  expect(numbers(await page({ event_name: '', limit: 1 }))).toEqual([250]);
  expect((await page({ event_name: 'none' })).page_info).toMatchObject({ total_count: 0, start_cursor: null });
});

test('a malformed event id is refused by name', async () => {
  for (const name of ['after', 'before', 'start_id', 'end_id']) {
    for (const value of ['x', '1-2-3', '-1-0', '1e3-0', '9'.repeat(40)]) {
      const { status, text } = await hw.api('GET', `/sources/${source.id}/events`, { [name]: value });
      expect([name, value, status]).toEqual([name, value, 400]);
      expect(text).toContain(name);
    }
  }
  expect((await hw.api('GET', '/sources/dc_none/events')).status).toBe(404);
});

test('a range of it can be deleted, both ends included', async () => {
  const all = (await page({ limit: 100, event_name: '' })).data;
  const [to, from] = [all[3], all[5]];
  const path = `/sources/${source.id}/events?start_id=${from?.id}&end_id=${to?.id}`;
  expect((await hw.api('DELETE', path)).status).toBe(202);
  expect(numbers(await page({ limit: 5, event_name: '' }))).toEqual([250, 249, 248, 244, 243]);
});

test('counting stops where it would cost more than it tells', async () => {
  expect(LIMITS.maxCountedEvents).toBeGreaterThanOrEqual(10_000);
  for (let i = 0; i < 2; i++) await run({ from: 1, to: 5_000, name: 'busy' });
  await run({ from: 1, to: 10, name: 'busy' });
  expect((await page({ event_name: 'busy', limit: 1 })).page_info.total_count).toBe(LIMITS.maxCountedEvents);
});
