import { deleteSomeOfAccount, deletionJob } from '../../accounts/delete-account.sql.ts';
import type { Sql } from '../../db/database.ts';
import { addJobs } from '../../db/jobs/add-jobs.ts';
import type { DeleteAccountPayload } from '../../db/jobs/tasks.ts';
import { restAfterMs } from '../../fairness/rest-after.ts';

const BATCH_ROWS = 2_000;
/**
 * Delay of the last check after everything is deleted. It finds rows that a node committed before
 * it heard of the deletion.
 */
const SECOND_LOOK_MS = 60_000;

/**
 * One batch of an account's deletion. The job comes back until nothing is left, after a pause as
 * long as the batch: other tenants' work goes on. If a node dies, the next batch continues its
 * work.
 */
export function createAccountDeleter(sql: Sql): (payload: DeleteAccountPayload) => Promise<void> {
  return async ({ accountId, isSecondLook = false }) => {
    const beganMs = performance.now();
    const hasMore = await deleteSomeOfAccount(sql, accountId, BATCH_ROWS);
    const restMs = restAfterMs(performance.now() - beganMs);
    if (hasMore) return addJobs(sql, [deletionJob(accountId, Date.now() + restMs)]);
    if (isSecondLook) return;
    const job = deletionJob(accountId, Date.now() + SECOND_LOOK_MS);
    await addJobs(sql, [{ ...job, payload: { accountId, isSecondLook: true } }]);
  };
}
