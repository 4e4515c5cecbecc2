import { addJobs, type Sql } from '../../db/index.ts';
import { laterSendLane, sendLane } from './send-lane.ts';
import { nextUploadMs } from './insert-sends.sql.ts';

/**
 * Makes a failed send due again, from the beginning of its schedule. A line for S3 goes into the
 * next object. False if the send has not failed, or can never be sent.
 */
export async function retrySend(sql: Sql, accountId: string, id: string, nowMs: number): Promise<boolean> {
  const uploadMs = nextUploadMs(nowMs);
  return sql.begin(async (tx) => {
    const [row] = await tx<{ kind: string }[]>`
      update sends set status = 'pending', attempt_count = 0, leased_by = null,
        unit_id = case when kind = 's3' then null else unit_id end, object_key = null,
        next_attempt_at = to_timestamp(case when kind = 's3' then ${uploadMs}::float8 else ${nowMs}::float8 end / 1000.0)
      where account_id = ${accountId} and id = ${id} and status = 'failed' and (kind <> 's3' or bucket is not null)
      returning kind`;
    if (row === undefined) return false;
    await addJobs(tx, [row.kind === 's3' ? laterSendLane(accountId, uploadMs) : sendLane(accountId)]);
    return true;
  });
}
