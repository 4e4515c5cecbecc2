import { deleteSomeOfAccount, deletionJob } from '../../accounts/delete-account.sql.ts';
import type { Sql } from '../../db/database.ts';
import { addJobs } from '../../db/jobs/add-jobs.ts';
import type { DeleteAccountPayload } from '../../db/jobs/tasks.ts';
import { restAfterMs } from '../../fairness/rest-after.ts';

const BATCH_ROWS = 2_000;
/** Once nothing is left: what a node committed that had not heard of the deletion is found then. */
const SECOND_LOOK_MS = 60_000;

/**
 * One turn of the deletion of an account. Its job comes back until nothing is left, after a rest as
 * long as the turn: the others' work goes on beside it. What a node that ends leaves is done by the
 * next turn.
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
