/**
 * Jobs are fetched in the order of their time, across tenants. One tenant may have thousands due in
 * the same second, such as timers or waiting executions. Without priorities they would delay the
 * jobs of all other tenants.
 */
export interface JobCrowds {
  /** For the next job of a tenant that is due then: see crowdPriority. */
  priorityAt(accountId: string, runAtMs: number): number;
}

/**
 * Jobs of one tenant in one second that run before larger crowds: a few tenths of a second of a
 * node.
 */
const FIRST_JOBS = 64;
/** Each priority in use is one more search at each fetch. */
const LAST_PRIORITY = 16;
const MAX_SECONDS = 20_000;
const SECOND_MS = 1_000;

/**
 * The priority of a job, by how many jobs of its tenant are due with it. It is 0 for the first
 * ones, one more for twice as many, 11 for a hundred thousand. Tenants with fewer jobs are fetched
 * earlier.
 */
export function crowdPriority(others: number): number {
  return others < FIRST_JOBS ? 0 : Math.min(LAST_PRIORITY, 1 + Math.floor(Math.log2(others / FIRST_JOBS)));
}

/** As far as this node has added them since its start. */
export function createJobCrowds(): JobCrowds {
  const counts = new Map<string, number>();
  return {
    priorityAt(accountId, runAtMs) {
      const second = `${accountId} ${Math.floor(runAtMs / SECOND_MS)}`;
      const count = counts.get(second) ?? 0;
      if (count === 0 && counts.size >= MAX_SECONDS) counts.clear();
      counts.set(second, count + 1);
      return crowdPriority(count);
    },
  };
}
