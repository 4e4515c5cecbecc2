import { HeadwaterError, type HookName, notFound } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { ComponentRecord, Components, Principal, SourceCreate, SourceUpdate } from '../contract.ts';
import type { Log } from '../log.ts';
import type { RunResult, RunTask } from '../run/run-invocation.ts';
import { runLimits } from '../run/run-limits.ts';
import { runtimeOf, type SourceRuntime } from '../run/source-runtime.ts';
import { beginSourceChange, endSourceChange } from '../store/change-source.ts';
import type { Database } from '../store/database.ts';
import { readSourceRuntime } from '../store/read-source-runtime.ts';
import type { Interfaces } from './interfaces.ts';
import type { PropSealer } from './seal-props.ts';

/*
 * Deployed → changed → deleted, with the hooks of each move:
 *
 *   create                    deploy, activate         a failing hook: no source is left, HOOK_FAILED
 *   code or props change      deactivate (old),        a failing deactivate is recorded and passed over (broken code must
 *                             activate (new)           be replaceable); a failing activate: the old code, props and state
 *                                                      are put back and activated again, HOOK_FAILED
 *   active: true → false      deactivate               as above
 *   active: false → true      activate                 a failing hook: it stays inactive, HOOK_FAILED
 *   delete                    deactivate if active     passed over: a source can always be deleted
 *
 * A change of the name alone runs no hook, nor does a change of an inactive source. Changes of one source never overlap:
 * a second one answers CONFLICT.
 */

export interface LifecycleContext {
  db: Database;
  components: Components;
  limits: Pick<LimitsCache, 'get'>;
  sealer: PropSealer;
  runTask: (task: RunTask) => Promise<RunResult>;
  /** Drops what this node has cached of the source; other nodes hear of it from the database. */
  forget: (sourceId: string) => void;
  log: Log;
}

/** Longer than the hooks of one change can take together; the lease of a node that died ends by itself. */
export async function changeLeaseSeconds({ limits }: LifecycleContext, accountId: string): Promise<number> {
  const { hookWallMs } = await limits.get(accountId);
  return Math.ceil((3 * hookWallMs) / 1000) + 30;
}

/** Takes the lease of a change. Throws NOT_FOUND or CONFLICT. */
export async function beginChange(context: LifecycleContext, who: Principal, id: string): Promise<void> {
  const leaseSeconds = await changeLeaseSeconds(context, who.accountId);
  const begun = await beginSourceChange(context.db.sql, who.accountId, id, leaseSeconds);
  if (begun === 'absent') throw notFound('source', id);
  if (begun === 'busy') {
    throw new HeadwaterError('CONFLICT', `Another change of source ${id} is under way; try again when it has ended`);
  }
}

export async function endChange(
  context: LifecycleContext,
  who: Principal,
  id: string,
  interfaces: Interfaces,
): Promise<void> {
  await endSourceChange(context.db.sql, who.accountId, id, interfaces);
  context.forget(id);
}

export async function readRuntime(context: LifecycleContext, id: string): Promise<SourceRuntime> {
  const row = await readSourceRuntime(context.db.sql, id);
  if (row === undefined) throw notFound('source', id);
  return runtimeOf(row, context.sealer);
}

/** Runs a hook with the code and props that are stored now. What it emits and stores is committed with it. */
export async function runHook(context: LifecycleContext, id: string, hook: HookName): Promise<RunResult> {
  const runtime = await readRuntime(context, id);
  if (!runtime.hooks.includes(hook)) return { ok: true };
  const limits = runLimits('hook', await context.limits.get(runtime.accountId));
  return context.runTask({ runtime, entry: { kind: 'hook', hook }, kind: `hook:${hook}`, limits });
}

export function hookFailed(hook: HookName, result: Extract<RunResult, { ok: false }>): HeadwaterError {
  const logs = result.logs.slice(-5).join('\n');
  const fields = [{ path: `hooks.${hook}`, message: result.message }];
  if (logs !== '') fields.push({ path: `hooks.${hook}.logs`, message: logs });
  return new HeadwaterError('HOOK_FAILED', `The ${hook} hook failed: ${result.message}`, { fields });
}

export function namesComponent(input: SourceCreate | SourceUpdate): boolean {
  return input.componentId !== undefined || input.componentCode !== undefined || input.componentUrl !== undefined;
}

/** The component to deploy: given code is saved first, an id is looked up. Throws INVALID_REQUEST, INVALID_COMPONENT, NOT_FOUND. */
export async function chooseComponent(
  { components }: LifecycleContext,
  who: Principal,
  input: SourceCreate | SourceUpdate,
): Promise<ComponentRecord> {
  if (!namesComponent(input)) {
    const message = 'Give component_id, component_code or component_url';
    throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'component_id', message }] });
  }
  const { componentId, componentCode } = input;
  const isSaved = componentId !== undefined && componentCode === undefined;
  const component = isSaved ? await components.get(who, componentId) : await components.save(who, input);
  if (component.type === 'action') {
    throw new HeadwaterError('INVALID_REQUEST', `${component.id} is an action; only sources can be deployed`);
  }
  return component;
}
