import { and, desc, eq, isNotNull } from './drizzle.ts';
import type { LogLevel } from '@headwater/shared';
import type { RunRecord } from '../contract.ts';
import type { Database } from './database.ts';
import { runs } from './schema.ts';

/** A source's newest runs that logged or failed, newest first. */
export async function readRuns(db: Database, accountId: string, sourceId: string, limit: number): Promise<RunRecord[]> {
  const rows = await db.orm
    .select()
    .from(runs)
    .where(and(eq(runs.accountId, accountId), eq(runs.sourceId, sourceId), isNotNull(runs.recordedMs)))
    .orderBy(desc(runs.recordedMs), desc(runs.recordedSeq))
    .limit(limit);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    ...(row.causedBy === null ? {} : { causedBy: row.causedBy }),
    status: row.status,
    ...(row.errorCode === null ? {} : { error: errorOf(row) }),
    logs: logsOf(row.logs),
    startedAt: row.startedAt,
    endedAt: row.endedAt,
  }));
}

function errorOf(row: typeof runs.$inferSelect): NonNullable<RunRecord['error']> {
  const { errorCode, errorMessage, errorStack, errorLimit } = row;
  return {
    code: errorCode ?? '',
    message: errorMessage ?? '',
    ...(errorStack === null ? {} : { stack: errorStack }),
    ...(errorLimit === null ? {} : { limit: errorLimit }),
  };
}

function logsOf(text: string): RunRecord['logs'] {
  const lines = JSON.parse(text) as { at: number; level: LogLevel; message: string }[];
  return lines.map((line) => ({ atMs: line.at, level: line.level, message: line.message }));
}
