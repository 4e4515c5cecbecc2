import { randomUUID } from 'node:crypto';
import { type FieldError, HeadwaterError, type HookName, LIMITS, notFound } from '@headwater/shared';
import { type BoundedTurns, createBoundedTurns } from '../fairness/index.ts';
import type { AccountRoom } from '../accounts/index.ts';
import type { Components, Log, Principal } from '../contract/index.ts';
import { type ChangeLease, type Database, every, type LeaseTerms } from '../db/index.ts';
import {
  readSourceRuntime,
  runLimits,
  type RunResult,
  type RunTask,
  runtimeOf,
  type SourceRuntime,
} from '../runs/index.ts';
import { beginSourceChange, endSourceChange, extendSourceChange, markHooksBegun } from './change-source.sql.ts';
import { leaveHooksToRecovery } from './claim-abandoned-source.sql.ts';
import { dropUndeployedSource } from './delete-source.sql.ts';
import type { DecideContext, Interfaces } from '../props/index.ts';

/*
 * Deployed → changed → deleted, with the hooks of each transition:
 *
 * create                  `deploy`, `activate`. A failing hook: `deactivate` runs, no source is
 *                         left, HOOK_FAILED.
 * code or props change    `deactivate` (old), `activate` (new). A failing deactivate is recorded
 *                         and ignored: broken code must be replaceable. A failing activate:
 *                         `deactivate` of the new code runs. Then the old code, props and state are
 *                         restored and activated again, HOOK_FAILED. If that fails too, the source
 *                         is stopped.
 * active: true → false    `deactivate`; a failing one as above.
 * active: false → true    `activate`. A failing hook: `deactivate` runs, the source stays inactive,
 *                         HOOK_FAILED.
 * delete                  `deactivate` if active; a failing one is ignored: a source can always be
 *                         deleted.
 *
 * `deactivate` after a failed hook undoes what that hook did before it failed.
 *
 * A change of the name alone runs no hook, nor does a change of an inactive source. Changes of one
 * source never overlap: a second one throws CONFLICT. A change whose node dies is recovered by
 * another one: recover-changes.ts.
 */

export interface LifecycleContext extends DecideContext {
  db: Database;
  components: Pick<Components, 'save' | 'obtain'>;
  room: AccountRoom;
  /**
   * A change waits here before it has the lease of its source. Hundreds of changes that wait with a
   * lease would lose it.
   */
  changeTurns: BoundedTurns;
  /** Under which this node holds leases. */
  nodeId: () => string;
  runTask: (task: RunTask) => Promise<RunResult>;
  /** Drops what this node has cached of the source; other nodes hear of it from the database. */
  forget: (sourceId: string) => void;
  log: Log;
}

/** One that fails, or comes late, costs no lease. */
const EXTENSIONS_IN_A_LEASE = 4;

export function createChangeTurns(): BoundedTurns {
  return createBoundedTurns('maxSourceChangesPerTenant', 'changes of sources', LIMITS.sourceChangesAtOnce);
}

/** Terms of a lease that begins now: see whileHeld. */
export function leaseTerms({ nodeId }: Pick<LifecycleContext, 'nodeId'>): LeaseTerms {
  return { changeId: randomUUID(), nodeId: nodeId(), seconds: LIMITS.changeLeaseSeconds };
}

/**
 * Extends the lease until `work` has ended, however long its hooks wait and take. The lease of a
 * node that is gone ends by itself.
 */
export async function whileHeld<T>(
  { db, log }: Pick<LifecycleContext, 'db' | 'log'>,
  lease: ChangeLease,
  work: () => Promise<T>,
  seconds: number = LIMITS.changeLeaseSeconds,
): Promise<T> {
  const stop = every(
    (seconds * 1_000) / EXTENSIONS_IN_A_LEASE,
    () => extendSourceChange(db.sql, lease, seconds),
    (err) => log.warn({ source: lease.sourceId, err }, 'the lease of a change could not be extended'),
  );
  try {
    return await work();
  } finally {
    await stop();
  }
}

/** Takes the lease of a change. Throws NOT_FOUND or CONFLICT. */
export async function beginChange(context: LifecycleContext, who: Principal, id: string): Promise<ChangeLease> {
  if (id.includes('\0')) throw notFound('source', id);
  const { accountId } = who;
  const terms = leaseTerms(context);
  const begun = await inAccountTurn(context, accountId, () => beginSourceChange(context.db.sql, accountId, id, terms));
  if (begun === 'absent') throw notFound('source', id);
  if (begun === 'busy') {
    throw new HeadwaterError('CONFLICT', `Another change of source ${id} is under way; try again when it has ended`);
  }
  return { accountId, sourceId: id, changeId: terms.changeId, nodeId: terms.nodeId };
}

/**
 * After an error in the middle of a change. A hook that failed has been taken back by now. Anything
 * else that comes after the first hook is left to recovery, which runs hooks again; before it there
 * is nothing to take back. Answers true where the change is recovery's to end, or the lease was
 * lost.
 */
export async function isLeftToRecovery(
  context: LifecycleContext,
  lease: ChangeLease,
  error: unknown,
): Promise<boolean> {
  if (error instanceof HeadwaterError && error.code === 'HOOK_FAILED') return false;
  const isLeft = await leaveHooksToRecovery(context.db.sql, lease);
  if (isLeft && error instanceof HeadwaterError) error.leftBehind = true;
  return isLeft;
}

/**
 * Runs the reads and writes of a change, never a hook, after the account's earlier ones on this
 * node. Changes of different sources wait for the same rows and names, also with creations of
 * sources. Each would hold one of the node's few connections. A hundred reads at once, with all
 * props, would delay the requests of other tenants.
 */
export function inAccountTurn<T>(
  { room }: Pick<LifecycleContext, 'room'>,
  accountId: string,
  work: () => Promise<T>,
): Promise<T> {
  return room.make(accountId, work);
}

export async function endChange(context: LifecycleContext, lease: ChangeLease, interfaces: Interfaces): Promise<void> {
  await inAccountTurn(context, lease.accountId, () => endSourceChange(context.db.sql, lease, interfaces));
  context.forget(lease.sourceId);
}

/** For a deployment that failed: see dropUndeployedSource. */
export async function dropUndeployed(context: LifecycleContext, lease: ChangeLease): Promise<void> {
  await inAccountTurn(context, lease.accountId, () => dropUndeployedSource(context.db.sql, lease));
  context.forget(lease.sourceId);
}

export async function readRuntime(
  context: LifecycleContext,
  { accountId, sourceId }: Pick<ChangeLease, 'accountId' | 'sourceId'>,
): Promise<SourceRuntime> {
  const row = await inAccountTurn(context, accountId, () => readSourceRuntime(context.db.sql, sourceId));
  if (row === undefined) throw notFound('source', sourceId);
  return runtimeOf(row, context.sealer);
}

/**
 * Runs a hook with the stored code and props, if the component has it. Its events and values are
 * committed with it. Throws CONFLICT if the lease was lost, also while it ran: then nothing of it
 * is stored.
 */
export async function runHook(context: LifecycleContext, lease: ChangeLease, hook: HookName): Promise<RunResult> {
  const runtime = await readRuntime(context, lease);
  if (!runtime.hooks.includes(hook)) return { ok: true };
  await markHooksBegun(context.db.sql, lease);
  const limits = runLimits('hook', await context.room.limits(runtime.accountId));
  return context.runTask({ runtime, entry: { kind: 'hook', hook }, kind: `hook:${hook}`, limits, change: lease });
}

/** A `deactivate` that fails is passed over: the run's record tells the owner. */
export async function deactivate(context: LifecycleContext, lease: ChangeLease): Promise<RunResult> {
  const result = await runHook(context, lease, 'deactivate');
  if (!result.ok) context.log.info({ source: lease.sourceId, code: result.code }, 'a deactivate hook failed');
  return result;
}

type FailedRun = Extract<RunResult, { ok: false }>;

/**
 * `after`: hooks that were run because of it, to take it back. A source whose `activate` failed
 * then as well is stopped.
 */
export function hookFailed(
  hook: HookName,
  result: FailedRun,
  after: readonly { hook: HookName; result: RunResult }[] = [],
): HeadwaterError {
  const failedAfter = after.flatMap((other) => (other.result.ok ? [] : fieldsOf(other.hook, other.result)));
  const fields = [...fieldsOf(hook, result), ...failedAfter];
  const { message, limit } = result;
  const isStopped = after.some((other) => other.hook === 'activate' && !other.result.ok);
  return new HeadwaterError('HOOK_FAILED', `The ${hook} hook failed: ${message}`, {
    fields,
    ...(isStopped && { leftBehind: true as const }),
    ...(limit === undefined ? {} : { limit }),
  });
}

const SHOWN_LOG_LINES = 5;

function fieldsOf(hook: HookName, { message, stack, logs }: FailedRun): FieldError[] {
  const shown = logs.slice(-SHOWN_LOG_LINES).join('\n');
  const path = `hooks.${hook}`;
  return [
    { path, message },
    ...(stack === undefined ? [] : [{ path: `${path}.stack`, message: stack }]),
    ...(shown === '' ? [] : [{ path: `${path}.logs`, message: shown }]),
  ];
}
