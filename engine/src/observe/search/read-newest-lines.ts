import type { NewestLines } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { readLoggedRuns } from './read-logs.sql.ts';
import { linesOf, type LoggedRun, type LogPlace } from '../../runs/index.ts';

/**
 * Quiet executions have no lines. After this many reads in a row without lines the search stops.
 */
const MAX_READS = 50;

/**
 * The newest lines of an emitter's runs, newest first: those of the newest runs, each run's from
 * its end.
 */
export async function readNewestLines(
  sql: Sql,
  accountId: string,
  emitterId: string,
  limit: number,
): Promise<NewestLines> {
  const lines: NewestLines['lines'] = [];
  let readChars = 0;
  let before: LogPlace | undefined;
  for (let reads = 0; reads < MAX_READS && lines.length < limit; reads++) {
    const { runs, through, isFull } = await readLoggedRuns(sql, accountId, emitterId, { before });
    for (const run of runs) {
      readChars += charsOf(run);
      for (const line of linesOf(run).toReversed()) lines.push(line);
    }
    before = through;
    if (!isFull || before === undefined) break;
  }
  return { lines: lines.slice(0, limit), readChars };
}

function charsOf({ logs, error }: LoggedRun): number {
  return logs.reduce((chars, { text }) => chars + text.length, error?.stack?.length ?? 0);
}
