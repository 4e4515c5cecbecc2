import { LIMITS } from '@headwater/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimSends, claimUpload } from '../../../engine/src/outbox/sends/claim-sends.sql.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';

const ROWS = 40_000;
const PREFIXES = 2;
/** Each line is read once to find it and once to write it, with a margin. */
const MAX_ROWS_READ = 3 * LIMITS.maxS3LinesPerObject;

let world: SendWorld;
/** One connection, because statistics of reads are per connection. */
let db: Database;

beforeEach(async () => {
  world = await createSendWorld();
  db = openDatabase({ url: world.database.url, maxConnections: 1 });
});
afterEach(async () => {
  await db.close();
  await world.stop();
});

/**
 * All due at the same moment, the prefixes in turns, behind as many requests that were due before.
 */
async function addBacklog(accountId: string): Promise<void> {
  await db.sql`
    insert into sends (id, account_id, workflow_id, execution_id, trace_id, kind, payload, bucket, prefix, next_attempt_at)
    select 'snd_' || lpad(n::text, 8, '0'), ${accountId}, 'wf_a', 'ex_a', 'ex_a', case when n > ${ROWS} then 's3' else 'http' end,
      json_build_object('payload', n)::text, 'lines', 'p' || n % ${PREFIXES},
      date_trunc('minute', now()) - case when n > ${ROWS} then interval '1 minute' else interval '2 minutes' end
    from generate_series(1, ${2 * ROWS}) n`;
}

async function rowsRead(): Promise<number> {
  await db.sql`select pg_stat_force_next_flush()`;
  const [read] = await db.sql<{ rows: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::float8 as rows from pg_stat_user_tables where relname = 'sends'`;
  return read?.rows ?? 0;
}

test('an upload reads its own lines, in order, however many others are due', async () => {
  const { accountId } = await world.account();
  await addBacklog(accountId);
  for (const turn of [0, 1]) {
    const before = await rowsRead();
    const [upload] = await claimUpload(db.sql, 'node_a', accountId, Date.now());
    const read = (await rowsRead()) - before;
    // The second object is of the other prefix, whose first line has then waited longest.
    const expected = Array.from({ length: LIMITS.maxS3LinesPerObject }, (_, at) => ROWS + 1 + turn + at * PREFIXES);
    const lines = upload?.contents.map(({ payload }) => JSON.parse(payload).payload);
    expect(lines).toEqual(expected);
    expect(read).toBeGreaterThanOrEqual(LIMITS.maxS3LinesPerObject);
    expect(read).toBeLessThan(MAX_ROWS_READ);
    // Once as the table is right after a burst, once as it is known.
    await db.sql`analyze sends`;
  }
});

test('requests are found without the lines for S3 that were due before', async () => {
  const { accountId } = await world.account();
  await addBacklog(accountId);
  await db.sql`update sends set next_attempt_at = now() - interval '1 hour' where kind = 's3'`;
  for (const _ of [0, 1]) {
    const before = await rowsRead();
    const claimed = await claimSends(db.sql, 'node_a', accountId, 10);
    const read = (await rowsRead()) - before;
    expect(claimed).toHaveLength(10);
    expect(read).toBeGreaterThanOrEqual(10);
    expect(read).toBeLessThan(1_000);
    await db.sql`analyze sends`;
  }
});
