import { idFloor, LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { pageRuns } from '../../../engine/src/runs/read-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type DeployedSource, type Headwater, startHeadwater } from '../../support/headwater.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

describe('runs of a source that no event leads to', () => {
  let hw: Headwater;
  beforeAll(async () => {
    hw = await startHeadwater();
  });
  afterAll(() => hw.stop());

  /** Does what the request's body says. */
  const SOURCE = `export default { name: 'Source', version: '1', dedupe: 'unique',
    props: { http: '$.interface.http' },
    async run({ body: { emit = [], log, error, parts = 0 } }) {
      for (const id of emit) this.$emit({ id }, { id });
      for (let part = 0; part < parts; part++) {
        for (let n = 0; n < 600; n++) this.$emit('x'.repeat(1000), { id: 'part' + part + '-' + n });
        await new Promise((done) => setTimeout(done, 5));
      }
      if (log) console.log(log);
      if (error) throw new Error(error);
    } };`;

  const pageOf = ({ text }: { text: string }) =>
    (JSON.parse(text) as { page_info: { total_count: number; start_cursor: string; end_cursor: string } }).page_info;

  async function send({ endpoint }: DeployedSource, body: unknown): Promise<string> {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await hw.untilIdle();
    return answer.headers.get('x-headwater-run') ?? '';
  }

  test('are listed with what they emitted and what dedupe dropped, in pages, beside those that logged or failed', async () => {
    const source = await hw.deploy(SOURCE);
    const nothing = await send(source, {});
    await send(source, { emit: [1] });
    const dropped = await send(source, { emit: [1] });
    const logged = await send(source, { emit: [2, 1], log: 'seen' });
    const failed = await send(source, { error: 'no' });

    const path = `/sources/${source.id}/runs`;
    const all = await hw.api('GET', `${path}?include_quiet=true`);
    expect(
      all.data.map(({ id, status, emitted, deduped }: Record<string, unknown>) => [id, status, emitted, deduped]),
    ).toEqual([
      [failed, 'error', 0, 0],
      [logged, 'ok', 1, 1],
      [dropped, 'ok', 0, 1],
      [nothing, 'ok', 0, 0],
    ]);
    expect(pageOf(all).total_count).toBe(4);
    expect(all.data[1].logs).toMatchObject([{ message: 'seen' }]);
    const loud = await hw.api('GET', path);
    expect(loud.data.map(({ id }: { id: string }) => id)).toEqual([failed, logged]);

    const first = await hw.api('GET', `${path}?include_quiet=true&limit=3`);
    const rest = await hw.api('GET', `${path}?include_quiet=true&limit=3&after=${pageOf(first).end_cursor}`);
    expect([...first.data, ...rest.data].map(({ id }: { id: string }) => id)).toEqual([
      failed,
      logged,
      dropped,
      nothing,
    ]);
    const back = await hw.api('GET', `${path}?include_quiet=true&before=${pageOf(rest).start_cursor}`);
    expect(back.data).toHaveLength(3);
  });

  test('are not those whose events came with an earlier part, and such a run that logs is counted whole', async () => {
    const source = await hw.deploy(SOURCE);
    await send(source, { parts: 3 });
    const logged = await send(source, { parts: 4, log: 'done' });
    const { data } = await hw.api('GET', `/sources/${source.id}/runs?include_quiet=true`);
    expect(data).toMatchObject([{ id: logged }]);
    // `unique` knows the last 100 ids alone, so the second run emits anew what the first one had.
    expect(data[0].emitted + data[0].deduped).toBe(2400);
    const [stored] = await hw.sql`select count(*)::int as n from events where invocation_id = ${logged}`;
    expect(data[0].emitted).toBe(stored?.n);
  });

  test('are asked for in pages only where the list has some, and by their owner', async () => {
    const source = await hw.deploy(SOURCE);
    const wrong = await hw.api('GET', `/sources/${source.id}/runs?after=MDppbnZfMQ`);
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('include_quiet')]);
    const { data: other } = await hw.admin('POST', '/accounts', { name: 'Other' });
    const asOther = hw.as(other.api_key);
    expect(await asOther('GET', `/sources/${source.id}/runs?include_quiet=true`)).toMatchObject({ status: 404 });
  });
});

describe('in a table with many runs', () => {
  const RUNS = 20_000;
  let database: TestDatabase;
  /** One connection, because statistics of reads are per connection. */
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, maxConnections: 1 });
  }, 120_000);
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  async function rowsRead(): Promise<number> {
    await db.sql`select pg_stat_force_next_flush()`;
    const [read] = await db.sql<{ rows: number }[]>`
      select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as rows from pg_stat_user_tables
      where relname = 'runs'`;
    return read?.rows ?? 0;
  }

  test('a page reads its own rows and those that it counts, not the runs that emitted', async () => {
    const { sql } = db;
    const accountId = await insertAccount(sql);
    const sourceId = await insertSource(sql, accountId);
    const floor = idFloor('invocation', 1_700_000_000_000);
    await sql`
      insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at, caused_by, emitted, deduped)
      select ${floor} || lpad(n::text, 12, '0'), ${accountId}, ${sourceId}, 'event', 'ok', '[]', now(), now(), 'dc_a-1-0',
        case when n % 1000 = 0 then 0 else 1 end, 0
      from generate_series(1, ${RUNS}::int4) as n`;
    await sql`analyze runs`;
    const before = await rowsRead();
    const page = await pageRuns(sql, accountId, sourceId, { limit: 5 });
    expect(page).toMatchObject({ total: RUNS / 1000, items: { length: 5 } });
    expect(page.items.every(({ emitted }) => emitted === 0)).toBe(true);
    expect((await rowsRead()) - before).toBeLessThan(RUNS / 100);
    expect(RUNS / 1000).toBeLessThan(LIMITS.maxCountedEvents);
  });
});
