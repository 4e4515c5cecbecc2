import { type Database, describeDatabaseError, type Sql } from '../db/index.ts';

/** A database that had no room for something is taken to have none for so long. */
const FAULT_MS = 10_000;

/**
 * Problems that stop the node from working, in words for the operator. Empty: the node is ready.
 */
export async function readinessProblems(
  db: Pick<Database, 'sql' | 'away' | 'fault'>,
  stuck: () => readonly string[],
): Promise<string[]> {
  const nowMs = performance.now();
  const away = db.away();
  if (away !== undefined)
    return [`${describeDatabaseError(away.error)} (for ${seconds(nowMs - away.sinceMs)})`, ...stuck()];
  const problems: string[] = [];
  const fault = db.fault();
  if (fault !== undefined && nowMs - fault.atMs < FAULT_MS)
    problems.push(`${describeDatabaseError(fault.error)} (${seconds(nowMs - fault.atMs)} ago)`);
  const unwritable = await whyNotWritable(db.sql);
  if (unwritable !== undefined) problems.push(unwritable);
  return [...problems, ...stuck()];
}

/** Nothing can be stored, as after a failover from this server to another. */
async function whyNotWritable(sql: Sql): Promise<string | undefined> {
  try {
    const [row] = await sql<{ writable: boolean }[]>`
      select not current_setting('transaction_read_only')::bool as writable`;
    return row?.writable === true ? undefined : describeDatabaseError({ code: '25006' });
  } catch (error) {
    return describeDatabaseError(error);
  }
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}
