import postgres from 'postgres';
import { createRequestTemplate } from '../load/request-bytes.ts';

export interface InsertRates {
  /** One row a transaction, on one connection. */
  single: number;
  batchOf50: number;
  batchOf256: number;
}

/** As the engine's group commit: while one batch commits, the next is on its way. */
const IN_FLIGHT = 2;

/**
 * Rows a second into a table shaped like `invocations`, by `insert … select from unnest(…)`, each
 * statement a durable transaction of its own. The table is made anew and dropped.
 */
export async function measureInserts(databaseUrl: string, bodyBytes: number, durationMs: number): Promise<InsertRates> {
  const sql = postgres(databaseUrl, { max: IN_FLIGHT, onnotice: () => undefined });
  try {
    await sql`drop table if exists bench_rows`;
    await sql`create table bench_rows (
      id text collate "C" primary key, account_id text not null, source_id text not null, event text not null,
      created_at timestamptz not null default now())`;
    const { body } = createRequestTemplate('http://127.0.0.1:1/', bodyBytes, 9);
    const event = body('r00000000');
    const measure = (batch: number, inFlight: number) => insertFor(sql, { batch, inFlight, event, durationMs });
    await measure(50, 1);
    const single = await measure(1, 1);
    const batchOf50 = await measure(50, IN_FLIGHT);
    const batchOf256 = await measure(256, IN_FLIGHT);
    await sql`drop table bench_rows`;
    return { single, batchOf50, batchOf256 };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

interface InsertPlan {
  batch: number;
  inFlight: number;
  event: string;
  durationMs: number;
}

let inserted = 0;

async function insertFor(sql: postgres.Sql, plan: InsertPlan): Promise<number> {
  const startMs = performance.now();
  const first = inserted;
  const keepInserting = async () => {
    while (performance.now() - startMs < plan.durationMs) await insertBatch(sql, plan);
  };
  await Promise.all(Array.from({ length: plan.inFlight }, keepInserting));
  return ((inserted - first) / (performance.now() - startMs)) * 1_000;
}

async function insertBatch(sql: postgres.Sql, { batch, event }: InsertPlan): Promise<void> {
  const ids = Array.from({ length: batch }, (_, i) => `inv_${String(inserted + i).padStart(20, '0')}`);
  inserted += batch;
  await sql`
    insert into bench_rows (id, account_id, source_id, event)
    select * from unnest(${ids}::text[], ${ids.map(() => 'o_bench')}::text[], ${ids.map(() => 'dc_bench')}::text[],
      ${ids.map(() => event)}::text[])`;
}
