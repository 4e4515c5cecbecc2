import { LIMITS } from '@headwater/shared';
import { isSameToken, type ReadToken } from './wait-token.ts';
import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { PARKED, wakeJob } from './park-executions.sql.ts';

/** A token that a caller presents for an execution. */
export interface ResumeToken extends ReadToken {
  id: string;
  token: string;
}

interface Resumption extends ResumeToken {
  /** JSON text. */
  data: string;
}

/**
 * `accountId`: owner of the resumed execution. `changed`: the execution began to wait meanwhile.
 */
type Outcome = { accountId: string } | 'refused' | 'changed';

const MAX_TRIES = 3;

/**
 * Wakes an execution that waits for this token. If its step still runs, keeps the data until it
 * waits. Returns its account, or undefined if it waits for nothing or for another token, or was
 * resumed before.
 */
export async function resumeExecution(sql: Sql, resumption: Resumption): Promise<string | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await sql.begin((tx) => tryToResume(tx, resumption));
    if (outcome === 'refused') return undefined;
    if (outcome !== 'changed') return outcome.accountId;
  }
  return undefined;
}

/** Does not lock a queued invocation: a claim would skip it. */
async function tryToResume(tx: Transaction, resumption: Resumption): Promise<Outcome> {
  const { id, data } = resumption;
  const now = await readProgress(tx, resumption);
  if (now === undefined) return 'refused';
  if (!now.parked) return keepEarly(tx, resumption);
  if (!opens(resumption, now)) return 'refused';
  // Its wait may end at this moment. The transaction that wakes it has then read the resume data,
  // and deletes the wait.
  const parked = await tx`select from invocations where id = ${id} and leased_by = ${PARKED} for share`;
  if (parked.count === 0) return 'changed';
  const resumed = await tx`
    update execution_waits set wake_at = least(wake_at, now()), resume_data = ${data}, bytes = bytes + octet_length(${data}::text)
    where execution_id = ${id} and token = ${resumption.token} and kind in ('delay', 'suspend', 'rerun')
      and resume_data is null`;
  if (resumed.count === 0) return 'refused';
  await addJobs(tx, [wakeJob(id, Date.now())]);
  return { accountId: now.accountId };
}

/** The account of the execution that waits for the token, or runs the step of the token. */
export async function readOpenFor(sql: Sql, brought: ResumeToken): Promise<string | undefined> {
  const now = await readProgress(sql, brought);
  return now !== undefined && opens(brought, now) ? now.accountId : undefined;
}

/** The token for which an execution of the account waits, where nothing has resumed it yet. */
export async function readOpenWait(sql: Sql, accountId: string, id: string): Promise<string | undefined> {
  const [wait] = await sql<{ token: string }[]>`
    select token from execution_waits
    where execution_id = ${id} and account_id = ${accountId} and kind in ('delay', 'suspend', 'rerun') and resume_data is null`;
  return wait?.token;
}

interface Progress {
  accountId: string;
  /** It waits; else it runs or is queued. */
  parked: boolean;
  /** Token that it waits for, or that came before it waits. */
  token: string | null;
  /** The run of the step that the token stands for has ended. */
  isOver: boolean;
}

/** In one statement: between two of them the step could end. */
async function readProgress(
  sql: Sql | Transaction,
  { id, position, runs }: ResumeToken,
): Promise<Progress | undefined> {
  const [row] = await sql<Progress[]>`
    select i.account_id as "accountId", coalesce(i.leased_by = ${PARKED}, false) as parked, w.token, exists (
        select from execution_steps s
        where s.execution_id = i.id and (s.position > ${position} or (s.position = ${position} and s.runs >= ${runs}))
      ) as "isOver"
    from invocations i left join execution_waits w on w.execution_id = i.id where i.id = ${id}`;
  return row;
}

function opens({ token, isOurs }: ResumeToken, now: Progress): boolean {
  if (!now.parked) return isOurs && !now.isOver;
  return now.token !== null && isSameToken(now.token, token);
}

async function keepEarly(tx: Transaction, resumption: Resumption): Promise<Outcome> {
  const { id, token, data, position, runs } = resumption;
  // While a node runs it, this lock blocks the write of a step's end, and waits for one under way.
  // Otherwise a deadlock is possible: parking waits for this transaction, which waits for the
  // wait's row that parking deletes.
  await tx`
    select from invocations where id = ${id} and leased_by is not null and leased_by <> ${PARKED} for no key update`;
  const now = await readProgress(tx, resumption);
  if (now?.parked === true) return 'changed';
  if (now === undefined || !opens(resumption, now)) return 'refused';
  if (await keepBeside(tx, resumption)) return { accountId: now.accountId };
  const kept = await tx`
    insert into execution_waits as w (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, resume_data,
      bytes)
    select id, account_id, source_id, 'early', ${position}, ${runs}, ${token}, now(), ${data},
      ${LIMITS.waitingOverheadBytes}::int8 + octet_length(${data}::text)
    from invocations where id = ${id}
    on conflict (execution_id) do update set position = excluded.position, runs = excluded.runs, token = excluded.token,
      wake_at = excluded.wake_at, resume_data = excluded.resume_data, bytes = excluded.bytes
    where w.kind = 'early' and w.token <> excluded.token and (w.position, w.runs) <= (excluded.position, excluded.runs)`;
  if (kept.count > 0) return { accountId: now.accountId };
  return (await readProgress(tx, resumption))?.parked === true ? 'changed' : 'refused';
}

/**
 * The wait that led to this run stays until the end of the run is written; that write leaves the
 * data in place (see overWaits).
 */
async function keepBeside(tx: Transaction, { id, token, data, position, runs }: Resumption): Promise<boolean> {
  const kept = await tx`
    update execution_waits set early_token = ${token}, early_position = ${position}, early_runs = ${runs}, early_data = ${data},
      bytes = bytes - coalesce(octet_length(early_data), 0) + octet_length(${data}::text)
    where execution_id = ${id} and kind in ('retry', 'rerun') and (early_token is null
      or (early_token <> ${token} and (early_position, early_runs) <= (${position}::int4, ${runs}::int4)))`;
  return kept.count > 0;
}
