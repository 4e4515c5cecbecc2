import { isSameToken, type ReadToken } from '../workflows/run/wait-token.ts';
import { addJobs } from './add-jobs.ts';
import type { Sql, Transaction } from './database.ts';
import { PARKED, wakeJob } from './park-executions.ts';

/** A token that somebody has brought for an execution. */
export interface BroughtToken extends ReadToken {
  id: string;
  token: string;
}

interface Resumption extends BroughtToken {
  /** JSON text. */
  data: string;
}

/** `changed`: it began to wait meanwhile. */
type Outcome = 'resumed' | 'refused' | 'changed';

const MAX_TRIES = 3;

/**
 * Wakes an execution that waits for this token. Where its step still runs, what is brought is kept until it waits. False: it
 * waits for nothing, for something else, or was resumed before.
 */
export async function resumeExecution(sql: Sql, resumption: Resumption): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await sql.begin((tx) => tryToResume(tx, resumption));
    if (outcome !== 'changed') return outcome === 'resumed';
  }
  return false;
}

/** The invocation is not locked where it waits or is queued: a claim would pass it over. */
async function tryToResume(tx: Transaction, resumption: Resumption): Promise<Outcome> {
  const { id, data } = resumption;
  const leasedBy = await readLease(tx, id);
  if (leasedBy === undefined) return 'refused';
  if (leasedBy !== PARKED) return keepEarly(tx, resumption);
  if (!(await isWaitedFor(tx, resumption))) return 'refused';
  const resumed = await tx`
    update execution_waits set wake_at = least(wake_at, now()), resume_data = ${data}
    where execution_id = ${id} and token = ${resumption.token} and kind in ('delay', 'suspend', 'rerun')
      and resume_data is null`;
  if (resumed.count === 0) return 'refused';
  await addJobs(tx, [wakeJob(id, Date.now())]);
  return 'resumed';
}

/** Null: it is queued. Undefined: there is none. */
async function readLease(sql: Sql | Transaction, id: string): Promise<string | null | undefined> {
  const [row] = await sql<{ leased_by: string | null }[]>`select leased_by from invocations where id = ${id}`;
  return row?.leased_by;
}

/** Whether the run of the step that the token stands for is under way, or its execution waits for the token. */
export async function isOpen(sql: Sql, brought: BroughtToken): Promise<boolean> {
  const leasedBy = await readLease(sql, brought.id);
  if (leasedBy === undefined) return false;
  return leasedBy === PARKED ? isWaitedFor(sql, brought) : isUnderWay(sql, brought);
}

/** The account whose execution it is. */
export async function readAccount(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`select account_id from invocations where id = ${id}`;
  return row?.account_id;
}

async function isWaitedFor(sql: Sql | Transaction, { id, token }: BroughtToken): Promise<boolean> {
  const [wait] = await sql<{ token: string }[]>`select token from execution_waits where execution_id = ${id}`;
  return wait !== undefined && isSameToken(wait.token, token);
}

async function isUnderWay(sql: Sql | Transaction, { id, position, runs, isOurs }: BroughtToken): Promise<boolean> {
  if (!isOurs) return false;
  const over = await sql`
    select 1 from execution_steps
    where execution_id = ${id} and (position > ${position} or (position = ${position} and runs >= ${runs})) limit 1`;
  return over.length === 0;
}

async function keepEarly(tx: Transaction, resumption: Resumption): Promise<Outcome> {
  const { id, token, data, position, runs } = resumption;
  // While a node runs it, it does not begin to wait before this is through.
  await tx`select from invocations where id = ${id} and leased_by is not null and leased_by <> ${PARKED} for share`;
  if ((await readLease(tx, id)) === PARKED) return 'changed';
  if (!(await isUnderWay(tx, resumption))) return 'refused';
  const kept = await tx`
    insert into execution_waits as w (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, resume_data)
    select id, account_id, source_id, 'early', ${position}, ${runs}, ${token}, now(), ${data} from invocations where id = ${id}
    on conflict (execution_id) do update set position = excluded.position, runs = excluded.runs, token = excluded.token,
      wake_at = excluded.wake_at, resume_data = excluded.resume_data
    where w.kind = 'early' and w.token <> excluded.token`;
  if (kept.count > 0) return 'resumed';
  return (await readLease(tx, id)) === PARKED ? 'changed' : 'refused';
}
