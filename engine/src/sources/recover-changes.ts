import { newId } from '@headwater/shared';
import { type ChangeLease, every } from '../db/index.ts';
import { type CommittedRun, errorEventJson, type RunCommit } from '../runs/index.ts';
import { readyRedactor } from '../secrets/index.ts';
import { stopSource } from './change-source.sql.ts';
import { type AbandonedSource, claimAbandonedSource, leaveToRecovery } from './claim-abandoned-source.sql.ts';
import { readSource } from './read-sources.sql.ts';
import { interfacesOf } from '../props/index.ts';
import {
  deactivate,
  dropUndeployed,
  endChange,
  leaseTerms,
  type LifecycleContext,
  readRuntime,
  runHook,
  whileHeld,
} from './lifecycle.ts';

/*
 * Recovers a deployment or change whose node died in the middle, or that failed through a fault of
 * ours after a hook had begun. Any node takes it over:
 *
 * a deployment        Undone: `deactivate` if a hook had begun, then no source is left. Its client
 *                     has no answer.
 * a change, deletion  Closed with the stored code, props and state. If a hook had begun, its
 *                     progress is unknown: `deactivate` undoes the known effects, `activate`
 *                     registers again. A failing one leaves the source stopped. The owner finds a
 *                     run with the code CHANGE_INTERRUPTED.
 *
 * External effects of a hook that were not yet stored in `$.service.db` when its node died cannot
 * be undone.
 */

export interface RecoveryContext extends LifecycleContext {
  commit: (run: RunCommit) => Promise<CommittedRun>;
}

const PAUSE_MS = 2_000;
const MAX_PARALLEL = 4;
const AGAIN_SECONDS = 60;

/** Looks for such changes periodically. Returns a stop that waits for recoveries under way. */
export function startChangeRecovery(context: RecoveryContext): () => Promise<void> {
  const { log, db } = context;
  const underWay = new Set<Promise<void>>();
  const stopTurns = every(PAUSE_MS, turn, (err) => log.error({ err }, 'abandoned changes could not be looked for'));

  async function turn(): Promise<void> {
    while (underWay.size < MAX_PARALLEL) {
      const terms = leaseTerms(context);
      const source = await claimAbandonedSource(db.sql, terms);
      if (source === undefined) return;
      log.warn({ source: source.id }, 'a deployment or change had been left half done');
      const { changeId, nodeId } = terms;
      const lease = { accountId: source.account_id, sourceId: source.id, changeId, nodeId };
      const recovery = whileHeld(context, lease, () => recover(context, source, lease))
        .catch(async (err: unknown) => {
          log.error({ source: source.id, err }, 'a change could not be recovered and will be tried again');
          await leaveToRecovery(db.sql, lease, AGAIN_SECONDS);
        })
        .catch((err: unknown) => log.error({ source: source.id, err }, 'the lease of a change could not be given back'))
        .finally(() => underWay.delete(recovery));
      underWay.add(recovery);
    }
  }

  return async () => {
    await stopTurns();
    await Promise.all(underWay);
  };
}

async function recover(context: RecoveryContext, source: AbandonedSource, lease: ChangeLease): Promise<void> {
  if (source.hooks_begun) await deactivate(context, lease);
  if (!source.deployed) {
    await dropUndeployed(context, lease);
    return;
  }
  if (source.hooks_begun) await registerAnew(context, lease, source.active);
  const row = await readSource(context.db.sql, lease.accountId, lease.sourceId);
  if (row !== undefined) await endChange(context, lease, interfacesOf(row.configurable_props, row.configured_props));
}

async function registerAnew(context: RecoveryContext, lease: ChangeLease, active: boolean): Promise<void> {
  const activated = active ? await runHook(context, lease, 'activate') : undefined;
  if (activated?.ok === false) {
    await deactivate(context, lease);
    await stopSource(context.db.sql, lease);
  }
  const now =
    activated === undefined ? 'it is inactive' : activated.ok ? 'it is active' : 'activate failed and it is stopped';
  const message =
    'The node that ran hooks of this source ended before they were through. Its hooks were run again with the code and ' +
    `props that are stored, and ${now}. What the interrupted hook did elsewhere may still be there.`;
  await recordInterruption(context, lease, message);
}

async function recordInterruption(context: RecoveryContext, lease: ChangeLease, message: string): Promise<void> {
  const { accountId, sourceId } = lease;
  const runtime = await readRuntime(context, lease);
  const nowMs = Date.now();
  const id = newId('invocation', nowMs);
  const code = 'CHANGE_INTERRUPTED';
  const errorEvent = await errorEventJson(
    {
      error: { code, message, ts: nowMs },
      originalEvent: '{}',
      originalContext: { id, emitter_id: sourceId },
    },
    await readyRedactor(runtime.redactor),
  );
  await context.commit({
    accountId,
    sourceId,
    change: lease,
    dedupe: runtime.dedupe,
    final: true,
    emits: [],
    dbWrites: new Map(),
    record: {
      id,
      kind: 'change',
      errorCode: code,
      errorMessage: message,
      logs: '[]',
      startedAtMs: nowMs,
      endedAtMs: nowMs,
      errorEvent,
    },
  });
}
