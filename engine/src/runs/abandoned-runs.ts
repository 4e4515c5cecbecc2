import { notFound } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { AbandonedRunChoice, AbandonedRuns } from '../contract/index.ts';
import { NOTHING_QUEUED, type Queued, sumOf } from './commit/queued.ts';
import { inPageOrder, readPage, type Sql } from '../db/index.ts';
import { emitterExists, isWorkflow } from '../events/index.ts';
import {
  type AbandonedRunSize,
  chosenRuns,
  isInvocation,
  readAbandonedRuns,
  readAbandonedRunSizes,
  retryRuns,
} from './abandoned-runs.sql.ts';
import type { AccountBacklogs } from './counts/account-backlogs.ts';

export interface AbandonedRunsOptions {
  sql: Sql;
  limits: Pick<LimitsCache, 'get'>;
  backlogs: Pick<AccountBacklogs, 'require' | 'exceeded' | 'add'>;
}

/**
 * Runs that one statement makes invocations of again, and characters of their events, unless a
 * single one has more.
 */
const RETRIED_AT_ONCE = 200;
const MAX_RETRIED_CHARS = 4_000_000;
const RUN_ID = /^inv_\w{1,64}$/;

/** Lists abandoned runs and retries them. */
export function createAbandonedRuns({ sql, limits, backlogs }: AbandonedRunsOptions): AbandonedRuns {
  /** Answers how many were retried, and after which id others may be left. */
  async function retrySome(accountId: string, sizes: readonly AbandonedRunSize[], mayRetryNone: boolean) {
    const { ids, more } = fitting(sizes, (queued) => backlogs.exceeded(accountId, queued) === undefined);
    const [first] = sizes;
    if (ids.length === 0 && first !== undefined && !mayRetryNone) backlogs.require(accountId, queuedBy(first));
    if (ids.length === 0) return { count: 0, after: undefined };
    const count = await retryRuns(sql, accountId, ids);
    backlogs.add(accountId, more);
    return { count, after: ids.at(-1) };
  }

  async function requireSource(accountId: string, { sourceId }: AbandonedRunChoice): Promise<void> {
    if (sourceId === undefined) return;
    const isSource = !isWorkflow(sourceId) && (await emitterExists(sql, accountId, sourceId));
    if (!isSource) throw notFound('source', sourceId);
  }

  return {
    async list({ accountId }, request, choice) {
      await requireSource(accountId, choice);
      const query = { table: 'abandoned_runs', accountId, where: chosenRuns(sql, choice), order: 'id' } as const;
      const { ids, ...page } = await readPage(sql, query, request);
      return { ...page, items: inPageOrder(ids, await readAbandonedRuns(sql, accountId, ids)) };
    },
    async retry({ accountId }, id) {
      if (!RUN_ID.test(id)) throw notFound('abandoned run', id);
      await limits.get(accountId);
      const found = await readAbandonedRunSizes(sql, accountId, { id, after: '', limit: 1 });
      const { count } = await retrySome(accountId, found, false);
      if (count === 0 && !(await isInvocation(sql, accountId, id))) throw notFound('abandoned run', id);
      return count;
    },
    async retryAll({ accountId }, choice) {
      await requireSource(accountId, choice);
      await limits.get(accountId);
      let count = 0;
      // A run that is abandoned again meanwhile has an id before `after`, so the loop ends.
      for (let after: string | undefined = ''; after !== undefined; ) {
        const next = { ...choice, after, limit: RETRIED_AT_ONCE };
        const found: AbandonedRunSize[] = await readAbandonedRunSizes(sql, accountId, next);
        const retried: { count: number; after: string | undefined } = await retrySome(accountId, found, count > 0);
        count += retried.count;
        after = retried.after;
      }
      return count;
    },
  };
}

/** The first ones that one statement may have, and that there is room for. */
function fitting(sizes: readonly AbandonedRunSize[], hasRoom: (queued: Queued) => boolean) {
  const ids: string[] = [];
  let more = NOTHING_QUEUED;
  for (const size of sizes) {
    const next = sumOf(more, queuedBy(size));
    if ((ids.length > 0 && next.chars > MAX_RETRIED_CHARS) || !hasRoom(next)) break;
    ids.push(size.id);
    more = next;
  }
  return { ids, more };
}

const queuedBy = ({ chars }: AbandonedRunSize): Queued => ({ ...NOTHING_QUEUED, invocations: 1, chars });
