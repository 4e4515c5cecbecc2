import type { ExecutionMove } from './execution-moves.ts';
import type { Answer } from './execution-parts.ts';
import type { ExecutionRows, ExecutionState, StepState, WaitState } from './execution-states.ts';
import { CONCURRENCY, STEPS } from './execution-world.ts';

/* Legal moves of an execution, and invariants of all executions. */

const PARKED = 'parked';
const PASSED = ['done', 'waiting', 'continued'];
export const passedOf = (steps: readonly StepState[]) => {
  const first = steps.findIndex(({ status }) => !PASSED.includes(status));
  return first === -1 ? steps.length : first;
};
export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const except = (state: ExecutionState, ...names: (keyof ExecutionState)[]) =>
  JSON.stringify(state, (key, value: unknown) => (names.includes(key as keyof ExecutionState) ? undefined : value));

export interface ExecutionChange {
  kind: ExecutionMove['kind'];
  id: string;
  was: ExecutionState | undefined;
  is: ExecutionState | undefined;
  /** The id of the node that made the move. */
  actor: string;
  /** Subject of the move: an execution, or a workflow. */
  target: string | undefined;
  /** Executions that the node has given back, since it was cut off. */
  failed: ReadonlySet<string>;
  isDead: (holder: string) => boolean;
  original: (id: string) => ExecutionState | undefined;
}

/** Whether the move may have changed it so. */
export function isLegalChange(change: ExecutionChange): boolean {
  const { kind, id, was, is, target } = change;
  if (was === undefined) return is !== undefined && isLegalStart(change, is);
  if (kind === 'delete' && was.workflow === target) return isLegalDeletion(was, is);
  if (is === undefined) return false;
  switch (kind) {
    case 'work':
      return target === `wake:${id}` ? isLegalWake(was, is) : isLegalClaim(change, was, is);
    case 'run':
    case 'try-again':
      return isLegalCommit(was, is) || (change.failed.has(id) && isLegalRelease(change, was, is));
    case 'resume':
      return id === target && except(was, 'wait') === except(is, 'wait') && isLegalResume(was, is);
    case 'cancel':
      return id === target && isLegalCancel(was, is);
    case 'requeue':
      return was.lease === null && was.wait?.kind === 'early' && same({ ...was, wait: null }, is);
    default:
      return isLegalRelease(change, was, is);
  }
}

function isLegalStart(
  { kind, actor, original }: ExecutionChange,
  { lease, record, steps, ...rest }: ExecutionState,
): boolean {
  if (lease === null || rest.wait !== null || rest.events + rest.errors > 0) return false;
  if (kind === 'accept') {
    const isNew = lease.holder === null ? lease.claim === 0 : lease.holder === actor && lease.claim === 1;
    return isNew && record === null && steps.length === 0;
  }
  if ((kind !== 'replay' && kind !== 'retry') || record?.status !== 'queued' || record.replayOf === null) return false;
  const of = original(record.replayOf);
  // With its completed steps, or from the start.
  const copied = of?.steps.slice(0, steps.length).map((step) => ({ ...step, status: 'done', emits: false }));
  const isWhole = kind === 'replay' ? true : steps.length === passedOf(of?.steps ?? []);
  return of?.lease === null && isWhole && lease.holder === null && lease.claim === 1 && same(copied, steps);
}

function isLegalDeletion(was: ExecutionState, is: ExecutionState | undefined): boolean {
  if (was.lease === null) return same({ ...was, wait: null }, is) || same(was, is);
  if (was.record === null) return is === undefined;
  return is !== undefined && isLegalCancel(was, is);
}

function isLegalClaim({ actor }: ExecutionChange, was: ExecutionState, is: ExecutionState): boolean {
  if (was.lease === null || was.lease.holder !== null || is.lease?.holder !== actor) return false;
  const { claim, attempts } = was.lease;
  return (
    except(was, 'lease') === except(is, 'lease') && is.lease.claim === claim + 1 && is.lease.attempts === attempts + 1
  );
}

/**
 * Once for each wait: a wait for a step is over with it, and one for another run stays until that
 * run has ended.
 */
function isLegalWake(was: ExecutionState, is: ExecutionState): boolean {
  const { wait, lease } = was;
  if (lease?.holder !== PARKED || wait === null || wait.wakeAtMs > Date.now()) return false;
  const queued = { ...was, lease: { ...lease, holder: null } };
  if (wait.kind === 'rerun' || wait.kind === 'retry') return same(queued, is);
  const exports = wait.data === null ? '{}' : `{"$resume_data":${wait.data}}`;
  const steps = was.steps.map((step) =>
    step.position === wait.position && step.status === 'waiting' ? { ...step, status: 'done', exports } : step,
  );
  return steps.length === wait.position + 1 && same({ ...queued, wait: null, steps }, is);
}

/**
 * Only the holder commits: completed steps are not written again, and new ones were made under the
 * lease.
 */
function isLegalCommit(was: ExecutionState, is: ExecutionState): boolean {
  const { lease } = was;
  if (lease === null || lease.holder === null || lease.holder === PARKED) return false;
  const done = passedOf(was.steps);
  if (!same(was.steps.slice(0, done), is.steps.slice(0, done))) return false;
  const isOurs = ({ value }: StepState) => value.startsWith(`"${lease.holder} ${lease.claim} `);
  const changed = is.steps.filter((step, at) => !same(step, was.steps[at]));
  if (!changed.every(isOurs)) return false;
  // After a wait for another run the count goes on, else each run is the first.
  const before = was.steps[done];
  const runs = was.wait !== null && was.wait.kind !== 'early' ? was.wait.runs + 1 : 1;
  if (changed.some((step) => step.runs !== (step.position === before?.position ? runs : 1))) return false;
  if (is.lease === null) return isLegalEnd(was, is);
  if (is.events !== was.events || is.errors !== was.errors) return false;
  if (is.lease.holder === PARKED) return changed.length > 0 && isLegalPark(was, is);
  const isWaitOver = was.wait === null || was.wait.kind === 'early' ? same(was.wait, is.wait) : isOver(was, is);
  return changed.length > 0 && same(was.lease, is.lease) && same(was.record, is.record) && isWaitOver;
}

/** The wait is over: only an early resume for a later step may remain. */
function isOver({ wait }: ExecutionState, { wait: left }: ExecutionState): boolean {
  if (wait === null || wait.earlyToken === null) return left === null;
  return left?.kind === 'early' && left.token === wait.earlyToken && left.data === wait.earlyData;
}

function isLegalPark(was: ExecutionState, { lease, record, wait, steps }: ExecutionState): boolean {
  const last = steps.at(-1);
  if (wait === null || last === undefined || wait.kind === 'early') return false;
  const status = { delay: 'waiting', suspend: 'waiting', rerun: 'rerun', retry: 'failed' }[wait.kind];
  const early = earlyFor(was, wait);
  const isRetry = wait.kind === 'retry';
  return (
    last.status === status &&
    wait.position === last.position &&
    wait.runs === last.runs &&
    wait.data === (isRetry ? null : early) &&
    wait.earlyData === (isRetry ? early : null) &&
    (wait.data === null || wait.wakeAtMs <= Date.now()) &&
    lease?.claim === was.lease?.claim &&
    record?.status === 'waiting'
  );
}

/** Data that arrived early for this run of the step, or for an earlier run of it. */
function earlyFor({ wait: was }: ExecutionState, { position, runs }: WaitState): string | null {
  const [token, data] = was?.kind === 'early' ? [was.token, was.data] : [was?.earlyToken, was?.earlyData];
  const [forPosition, forRuns] = (token ?? '').split('-').map(Number);
  return forPosition === position && (forRuns ?? 0) <= runs ? (data ?? null) : null;
}

function isLegalEnd(was: ExecutionState, { record, wait, steps, events, errors }: ExecutionState): boolean {
  if (record?.hasEnded !== true || (wait !== null && wait.kind !== 'early')) return false;
  if (events !== steps.filter(({ emits }) => emits).length) return false;
  if (record.replayOf !== (was.record?.replayOf ?? null)) return false;
  const passed = passedOf(steps);
  if (record.status === 'failed') return errors === 1 && passed + 1 === steps.length;
  const isWhole = record.status === 'succeeded' ? passed === STEPS : record.status === 'exited' && passed > 0;
  return errors === 0 && isWhole && passed === steps.length;
}

function isLegalResume({ lease, wait: was }: ExecutionState, { wait: is }: ExecutionState): boolean {
  if (is === null || lease === null) return false;
  if (lease.holder === PARKED) {
    if (was === null || was.kind === 'retry' || was.data !== null || is.data === null) return false;
    return is.wakeAtMs <= Date.now() && same({ ...was, data: is.data, wakeAtMs: is.wakeAtMs }, is);
  }
  if (was === null || was.kind === 'early') return is.kind === 'early' && is.data !== null && is.token !== was?.token;
  const { earlyToken, earlyData } = is;
  return earlyData !== null && earlyToken !== was.earlyToken && same({ ...was, earlyToken, earlyData }, is);
}

function isLegalCancel(was: ExecutionState, is: ExecutionState): boolean {
  const steps = was.steps.map((step) =>
    step.status === 'waiting' || step.status === 'rerun' ? { ...step, status: 'cancelled' } : step,
  );
  const record = { status: 'cancelled', hasEnded: true, replayOf: was.record?.replayOf ?? null };
  return was.lease !== null && same({ ...was, lease: null, wait: null, record, steps }, is);
}

function isLegalRelease({ kind, actor, isDead }: ExecutionChange, was: ExecutionState, is: ExecutionState): boolean {
  const holder = was.lease?.holder ?? PARKED;
  if (holder === PARKED || was.lease === null || is.lease === null || is.lease.holder !== null) return false;
  const { claim, attempts } = was.lease;
  if (except(was, 'lease') !== except(is, 'lease') || is.lease.claim !== claim) return false;
  if (kind === 'recover' || kind === 'declare-dead') return isDead(holder) && is.lease.attempts === attempts;
  const isOwn = (kind === 'give-back-unheld' || kind === 'stop') && holder === actor;
  const isBack = isOwn || kind === 'give-back' || kind === 'run' || kind === 'try-again';
  return isBack && is.lease.attempts === Math.max(attempts - 1, 1);
}

/** Invariants of the rows that are broken. */
export function brokenExecutionRules(
  rows: ExecutionRows,
  accepted: ReadonlySet<string>,
  doomed: ReadonlySet<string>,
): string[] {
  const faults: string[] = [];
  const { executions, jobs, nodes, active, deleted } = rows;
  const lanes = new Set(jobs.map(({ key }) => key.split(':').slice(0, 2).join(':')));
  for (const id of accepted) if (!executions.has(id) && !doomed.has(id)) faults.push(`${id} is lost`);
  const running = new Map<string, number>();
  for (const [id, { workflow, lease, record, wait, steps }] of executions) {
    const say = (fault: string) => faults.push(`${id} ${fault}`);
    if ((lease === null) !== (record?.hasEnded ?? false))
      say(`is ${record?.status}, and its lease is ${same(lease, null)}`);
    if (steps.some(({ position }, at) => position !== at)) say('has left out a step');
    if (steps.slice(0, -1).some(({ status }) => !PASSED.includes(status))) say('has gone on behind a step');
    const isParked = lease?.holder === PARKED;
    const isForStep = wait?.kind === 'delay' || wait?.kind === 'suspend';
    if (isForStep && !isParked) say('does not wait, and has a wait');
    if (isParked && (wait === null || wait.kind === 'early')) say('waits for nothing');
    if (isParked && !lanes.has(`wake:${id}`)) say('is never woken');
    if (lease?.holder === null) {
      const comes = lanes.has(`run:${workflow}`) || lanes.has(`turn:${workflow}`);
      if (active.has(workflow) && !comes) say('has nobody who comes for it');
    }
    if (lease !== null && nodes.has(lease.holder ?? '')) running.set(workflow, (running.get(workflow) ?? 0) + 1);
    if (deleted.has(workflow) && lease !== null) say('has outlived its workflow');
  }
  for (const [workflow, count] of running)
    if (workflow === rows.inTurn && count > CONCURRENCY) faults.push(`${count} run at a time`);
  return faults;
}

/** An answer must be true: a step reported as written is there now, or was before. */
export function isTrueAnswer({ id, value, written }: Answer, before: ExecutionRows, after: ExecutionRows): boolean {
  const has = (rows: ExecutionRows) => rows.executions.get(id)?.steps.some((step) => step.value === value) === true;
  if (value === undefined) return written ? after.executions.get(id)?.record?.hasEnded === true : true;
  return written ? has(before) || has(after) : !has(after);
}
