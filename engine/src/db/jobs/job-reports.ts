import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { COMPLETE_JOBS, FAIL_JOBS, type JobStatement, RETURN_JOBS, RETURN_UNKNOWN_JOBS } from './job-statements.ts';
import type { Persistence } from './until-done.ts';

/** As graphile-worker gives it to its client. */
interface NamedQuery {
  name: string;
  text: string;
  values: unknown[];
}

type Result = QueryResult<{ id: string }>;
type Run = (query: NamedQuery) => Promise<Result>;

interface Report {
  statement: JobStatement;
  ids: readonly string[];
  /** The first parameter of the statement; the second is the pool. */
  list: unknown;
}

export interface JobReportsOptions {
  pool: Pool;
  persistence: Persistence;
  stopping: AbortSignal;
}

/**
 * Makes the connections of a pool take, end and give back jobs by our statements
 * (`db/jobs/job-statements.ts`). They are retried until they succeed, on another connection if
 * theirs was lost. graphile-worker has no hook for that, so its statements are recognized by name.
 * Returns a function that does this for one connection.
 */
export function replaceJobStatements({ pool, persistence, stopping }: JobReportsOptions): (client: PoolClient) => void {
  const runs = new WeakMap<PoolClient, Run>();
  let poolId = '';
  /** Taken, and not reported. */
  const held = new Set<string>();
  /** Jobs may be locked for this pool that it does not know of: the answer to a fetch was lost. */
  let isUnsure = false;
  const leftovers = createLeftovers((again) => report(again), stopping);

  /** `run`: on the connection that graphile-worker has. Absent, and after the first try: on any. */
  const persist = <T>(run: Run | undefined, work: (run: Run) => Promise<T>): Promise<T> =>
    persistence.untilDone(async (tries) => {
      if (run !== undefined && tries === 0) return work(run);
      const client = await pool.connect();
      try {
        return await work(runs.get(client) as Run);
      } finally {
        client.release();
      }
    });

  function take(query: NamedQuery, run: Run): Promise<Result> {
    poolId = query.values[0] as string;
    return persist(run, async (runNow) => {
      if (isUnsure) await runNow({ ...RETURN_UNKNOWN_JOBS, values: [[...held], poolId] });
      isUnsure = true;
      const result = await runNow(query);
      isUnsure = false;
      for (const { id } of result.rows) held.add(id);
      return result;
    });
  }

  async function report({ statement, ids, list }: Report, run?: Run): Promise<Result> {
    const result = await persist(run, (runNow) => runNow({ ...statement, values: [list, poolId] }));
    for (const id of ids) held.delete(id);
    // One that has failed and could not be changed is given back.
    const again = statement === COMPLETE_JOBS ? COMPLETE_JOBS : RETURN_JOBS;
    leftovers.add(
      again,
      result.rows.map(({ id }) => id),
    );
    return result;
  }

  return (client) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    const run = query as Run;
    runs.set(client, run);
    const own = (...parameters: unknown[]) => {
      const [named] = parameters;
      if (asksForTasks(named)) return persist(run, (runNow) => runNow(named));
      if (!isNamed(named)) return query(...parameters);
      if (named.name.startsWith('get_job')) return take(named, run);
      const reported = reportOf(named);
      return reported === undefined ? query(named) : report(reported, run);
    };
    client.query = own as typeof client.query;
  };
}

/**
 * graphile-worker keeps the promise of this query: after one rejection, the runner would never take
 * a job.
 */
function asksForTasks(query: unknown): query is NamedQuery {
  const { text } = (query ?? {}) as Partial<NamedQuery>;
  return typeof text === 'string' && /^(insert into|select) .*_private_tasks/.test(text);
}

function isNamed(query: unknown): query is NamedQuery {
  const { name, values } = (query ?? {}) as Partial<NamedQuery>;
  return typeof name === 'string' && values !== undefined;
}

interface FailedJob {
  jobId: string;
  message: string;
}

const MAX_MESSAGE_CHARS = 2_000;

/** Parses a graphile-worker statement by its name; undefined if it reports no job. */
function reportOf({ name, values }: NamedQuery): Report | undefined {
  switch (name.slice(0, name.indexOf('/'))) {
    case 'complete_job':
    case 'complete_jobs': {
      const ids = values.flat() as string[];
      return { statement: COMPLETE_JOBS, ids, list: ids };
    }
    case 'return_job': {
      const ids = values[1] as string[];
      return { statement: RETURN_JOBS, ids, list: ids };
    }
    case 'fail_job': {
      const failed = JSON.parse(values[1] as string) as FailedJob[];
      const list = JSON.stringify(failed.map(storable));
      return { statement: FAIL_JOBS, ids: failed.map(({ jobId }) => jobId), list };
    }
    default:
      return undefined;
  }
}

/** The database takes neither zeros nor halves of characters. */
function storable({ jobId, message }: FailedJob): FailedJob {
  return { jobId, message: message.slice(0, MAX_MESSAGE_CHARS).replaceAll('\0', '').toWellFormed() };
}

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/**
 * Reports again the jobs that another transaction had locked. When the runner stops, the rest is
 * unlocked with its pool.
 */
function createLeftovers(report: (again: Report) => Promise<unknown>, stopping: AbortSignal) {
  const left = new Map<string, JobStatement>();
  let isTrying = false;

  async function tryAll(): Promise<void> {
    isTrying = true;
    for (let pauseMs = FIRST_PAUSE_MS; left.size > 0 && !stopping.aborted; ) {
      await sleep(pauseMs);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
      const byStatement = [...Map.groupBy(left, ([, statement]) => statement)];
      left.clear();
      for (const [statement, entries] of byStatement) {
        const ids = entries.map(([id]) => id);
        // It fails when the pool has ended; its jobs are unlocked with it.
        await report({ statement, ids, list: ids }).catch(() => undefined);
      }
    }
    isTrying = false;
  }

  return {
    add(statement: JobStatement, ids: readonly string[]) {
      for (const id of ids) left.set(id, statement);
      if (left.size > 0 && !isTrying) void tryAll();
    },
  };
}
