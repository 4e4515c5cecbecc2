import type { LogLevel } from '@headwater/shared';
import type { LogLineRecord } from '../contract.ts';
import type { Sql } from './database.ts';

/** Read at once: each may have megabytes of lines. */
const RUNS_AT_ONCE = 4;

/**
 * The newest lines that runs of a source logged, newest first: those of the newest runs, each run's from its end. Every run
 * that is read has a line, so a page is full after a few.
 */
export async function readLogLines(
  sql: Sql,
  accountId: string,
  sourceId: string,
  limit: number,
): Promise<LogLineRecord[]> {
  const lines: LogLineRecord[] = [];
  let before: string | undefined;
  while (lines.length < limit) {
    const rows = await sql<{ id: string; logs: string }[]>`
      select id, logs from runs where account_id = ${accountId} and source_id = ${sourceId} and logs <> '[]'
        ${before === undefined ? sql`` : sql`and id < ${before}`}
      order by id desc limit ${RUNS_AT_ONCE}`;
    lines.push(...rows.flatMap((row) => linesOf(row.id, row.logs).slice(0, limit)));
    before = rows.at(-1)?.id;
    if (rows.length < RUNS_AT_ONCE) break;
  }
  return lines.slice(0, limit);
}

// In JavaScript: Postgres refuses to take a NUL out of JSON, and a log line may hold one.
function linesOf(runId: string, logs: string): LogLineRecord[] {
  const parsed = JSON.parse(logs) as { at: number; level: LogLevel; message: string }[];
  return parsed.map(({ at, level, message }, index) => ({ runId, index, atMs: at, level, message })).toReversed();
}
