import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import type { Executions } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { emitterExists, isWorkflow } from '../../events/index.ts';
import { readFailedExecutions } from './read-execution-progress.sql.ts';

/** Looked up in one statement. */
const PAGE = 100;

/** Replays one execution where nothing has yet. False: something has, or it cannot be replayed. */
export type ReplayFirst = (accountId: string, id: string) => Promise<boolean>;

/**
 * Replays failed executions of a workflow, oldest first, as many as the account has room for.
 * Answers how many.
 */
export async function retryExecutions(
  sql: Sql,
  { accountId, workflowId }: { accountId: string; workflowId: string },
  choice: Parameters<Executions['retry']>[2],
  replayFirst: ReplayFirst,
): Promise<number> {
  if (!isWorkflow(workflowId) || !(await emitterExists(sql, accountId, workflowId)))
    throw notFound('workflow', workflowId);
  let count = 0;
  for (let after = ''; count < LIMITS.maxRetriedExecutions; ) {
    const ids = await readFailedExecutions(sql, { accountId, workflowId, after, limit: PAGE }, choice);
    for (const id of ids.slice(0, LIMITS.maxRetriedExecutions - count)) {
      const isReplayed = await whileRoom(() => replayFirst(accountId, id), count > 0);
      if (isReplayed === 'full') return count;
      if (isReplayed) count += 1;
    }
    const last = ids.at(-1);
    if (ids.length < PAGE || last === undefined) break;
    after = last;
  }
  return count;
}

/** The first that finds no room says so; after others it is the end. */
async function whileRoom(replay: () => Promise<boolean>, hasBegun: boolean): Promise<boolean | 'full'> {
  try {
    return await replay();
  } catch (error) {
    if (hasBegun && error instanceof HeadwaterError && error.code === 'RATE_LIMITED') return 'full';
    throw error;
  }
}
