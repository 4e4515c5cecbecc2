import type { StatCounter } from '../../contract/stats.ts';
import type { StatPart } from '../../events/stat-meter.ts';
import { addUsage } from './add-usage.sql.ts';
import { addCounted } from '../../db/add-counted.ts';
import type { Sql } from '../../db/database.ts';

/** Each count is kept by minute, and by hour and day for ranges of days and weeks. */
const STAT_STEPS_SECONDS = [60, 3600, 86_400] as const;

/**
 * Adds what a node has counted. Rows are locked in one order everywhere. Accounts that are gone are
 * passed over.
 */
export function addStats(sql: Sql, counted: readonly StatPart[]): Promise<void> {
  // Parts of accounts that only read, or only ran code, have no counters by time.
  const parts = counted.filter((part) => Object.values(part.counts).some((count) => count > 0));
  const counts = (counter: StatCounter) => parts.map((part) => part.counts[counter]);
  return addCounted(sql, async (tx) => {
    await addUsage(tx, counted);
    if (parts.length === 0) return;
    await tx`
      insert into stats as s (account_id, subject_id, step_seconds, began_ms,
        received, emitted, runs_ok, runs_failed, delivered, failed_attempts, exhausted)
      select x.account_id, x.subject_id, step.seconds, x.began_ms - x.began_ms % (step.seconds * 1000),
        sum(received), sum(emitted), sum(runs_ok), sum(runs_failed), sum(delivered), sum(failed_attempts), sum(exhausted)
      from unnest(
        ${parts.map((part) => part.accountId)}::text[], ${parts.map((part) => part.subjectId)}::text[],
        ${parts.map((part) => part.beganMs)}::int8[], ${counts('received')}::int8[], ${counts('emitted')}::int8[],
        ${counts('runsOk')}::int8[], ${counts('runsFailed')}::int8[], ${counts('delivered')}::int8[],
        ${counts('failedAttempts')}::int8[], ${counts('exhausted')}::int8[]
      ) as x(account_id, subject_id, began_ms, received, emitted, runs_ok, runs_failed, delivered, failed_attempts, exhausted)
        join accounts a on a.id = x.account_id
        cross join unnest(${[...STAT_STEPS_SECONDS]}::int4[]) as step(seconds)
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (account_id, subject_id, step_seconds, began_ms) do update set
        received = s.received + excluded.received, emitted = s.emitted + excluded.emitted,
        runs_ok = s.runs_ok + excluded.runs_ok, runs_failed = s.runs_failed + excluded.runs_failed,
        delivered = s.delivered + excluded.delivered, failed_attempts = s.failed_attempts + excluded.failed_attempts,
        exhausted = s.exhausted + excluded.exhausted`;
  });
}
