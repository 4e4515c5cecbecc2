import {
  type FetchOutcome,
  type FetchRequest,
  limitFault,
  type RunEntry,
  type RunLimits,
  type RunOutcome,
  type Sandbox,
} from '@headwater/sandbox-runtime';
import { type ExceededLimit, type HttpResponse, newId } from '@headwater/shared';
import type { CallDataStore } from '../data-stores/index.ts';
import type { FetchTenant } from '../egress/index.ts';
import { type HeldInvocation, leaseOf, NO_LINES, originOf, storableText, storeLines } from '../events/index.ts';
import { type ChangeLease, leaseLost } from '../db/index.ts';
import type { CommittedRun } from './commit/commit-runs.sql.ts';
import type { EmittedCounts, RunCommit, RunRow } from './commit/commit-plan.ts';
import { abandonRun, ABANDONED } from './abandon-run.ts';
import { afterLoss } from './commit/after-loss.ts';
import type { HoldBundle } from './bundles.ts';
import type { LiveLines } from './live-lines.ts';
import type { DbOverlay } from './db-overlay.ts';
import type { ReadDbInTurn } from '../fairness/index.ts';
import { errorEventJson, errorEventJsonAtOnce, type FailedRun } from './commit/error-event.ts';
import { outcomeWithoutSecrets, redactedRun } from './redact-run.ts';
import { createRunOutputs, type OutputPart, type RunOutputs } from './run-outputs.ts';
import type { PrepareRun } from './prepare-run.ts';
import { failed, runInSandbox } from './run-in-sandbox.ts';
import type { Redactor } from '../secrets/index.ts';
import type { SourceRuntime } from './source-runtime.ts';

export interface RunnerContext {
  sandbox: Sandbox;
  overlay: DbOverlay;
  fetch: (tenant: FetchTenant, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  /** `onAway`: as in CallDataStore. */
  readDbValue: (sourceId: string, key: string, onAway: () => void) => Promise<string | undefined>;
  /** Values in memory take turns too, because they are also transferred to the run. */
  readDbInTurn: ReadDbInTurn;
  callDataStore: CallDataStore;
  /** Values of a source that are decided right before each run. */
  prepare: PrepareRun;
  /** Group commit; rejects only if the commit could not be done at all. */
  commit: (run: RunCommit) => Promise<CommittedRun>;
  /** As the query of this name. */
  countCrash: (invocation: HeldInvocation) => Promise<number | undefined>;
  holdBundle: HoldBundle;
  live: Pick<LiveLines, 'begin'>;
  nowMs: () => number;
}

export interface RunTask {
  runtime: SourceRuntime;
  entry: RunEntry;
  kind: string;
  limits: RunLimits;
  invocation?: HeldInvocation;
  /** The change that a hook belongs to. */
  change?: ChangeLease;
  /** `hasOutput`: there are events or values before it that are not committed. */
  respond?: (response: HttpResponse, hasOutput: boolean) => void;
  /** Called when nothing of the run counts and it begins anew. */
  again?: () => void;
  /** Called when the sandbox is done, before the commit. */
  ran?: () => void;
}

export type RunResult =
  | { ok: true }
  /**
   * `stack`: the author's own frames. `isTakenOver`: another node has the invocation, or its source
   * was deleted, and nothing of the run is stored.
   */
  | {
      ok: false;
      code: string;
      message: string;
      logs: string[];
      stack?: string;
      limit?: ExceededLimit;
      isTakenOver?: true;
    };

/**
 * Runs one entry of a source in its sandbox and commits its output. If the sandbox process dies, it
 * runs again, alone: see `afterLoss`. It then emits again the parts that it had committed, as after
 * the death of a node. Throws CONFLICT if the change of a hook was lost. Throws if nothing can be
 * committed or run.
 */
export async function runTask(context: RunnerContext, task: RunTask): Promise<RunResult> {
  for (let tries = 1; ; tries++) {
    const end = await runOnce(context, task, tries);
    if (end !== 'repeat') return end;
    task.again?.();
  }
}

async function runOnce(context: RunnerContext, task: RunTask, tries: number): Promise<RunResult | 'repeat'> {
  const runId = task.invocation?.id ?? newId('invocation');
  const startedAtMs = context.nowMs();
  const progress: RunProgress = { startedAtMs, exceeded: undefined, wasDatabaseAway: false };
  const { sourceId } = task.runtime;
  context.overlay.begin(sourceId);
  try {
    const prepared = await context.prepare(task.runtime);
    const { redactor } = prepared;
    const outputs = outputsOf(context, task, runId, progress);
    const { runtime, entry, limits } = task;
    const ended = prepared.ok
      ? await runInSandbox(
          context,
          { runtime, entry, limits, props: prepared.props, runId, tries, alone: isSuspect(task, tries) },
          redactedRun(outputs.host, redactor),
        )
      : failed(prepared.fault);
    const outcome = outcomeWithoutSecrets(ended, redactor);
    const { invocation } = task;
    const next = await afterLoss({ outcome, invocation, tries }, context.countCrash);
    const liveLines = await outputs.shown();
    if (next !== 'end') await outputs.settled();
    // The run got an error, or ran out of time, without a fault of its own.
    if (!outcome.ok && progress.wasDatabaseAway && invocation !== undefined)
      throw new Error(`The database was away while ${runId} asked it`);
    if (next === 'repeat') return 'repeat';
    task.ran?.();
    if (next === 'abandon' && invocation !== undefined) {
      const { maxEventHops } = limits.account;
      const logs = await storeLines(outputs.logs);
      await abandonRun(context, { runtime, invocation, maxEventHops, logs, liveLines, startedAtMs });
      return { ok: false, ...ABANDONED, logs: linesOf(outputs) };
    }
    const ending = { outcome, runId, startedAtMs, progress, redactor, liveLines };
    const { committed, outcome: last } = await commitEnd(context, task, outputs, ending);
    return committed ? resultOf(last, outputs) : takenOver(runId);
  } finally {
    context.overlay.end(sourceId, runId);
  }
}

/**
 * It is run without others once its process has died under it alone, here or on another node, or
 * twice among others. After one death among others it is not: each of them would need a process of
 * its own, though at most one is to blame.
 */
function isSuspect({ invocation }: RunTask, tries: number): boolean {
  return tries > MAX_SHARED_TRIES || (invocation !== undefined && invocation.crashes > 0);
}

const MAX_SHARED_TRIES = 2;

const linesOf = ({ logs }: RunOutputs) => logs.map((line) => line.message);

function resultOf(outcome: RunOutcome, outputs: RunOutputs): RunResult {
  if (outcome.ok) return { ok: true };
  const { code, message, stack, limit } = outcome.fault;
  const details = { ...(stack === undefined ? {} : { stack }), ...(limit === undefined ? {} : { limit }) };
  return { ok: false, code, message, logs: linesOf(outputs), ...details };
}

function takenOver(runId: string): RunResult {
  const message = `The lease of ${runId} was lost while it ran`;
  return { ok: false, code: 'CONFLICT', message, logs: [], isTakenOver: true };
}

interface RunProgress {
  startedAtMs: number;
  /** The limit that the commit of a part exceeded. */
  exceeded: ExceededLimit | undefined;
  /** Counts of the events of its parts. */
  counts?: EmittedCounts;
  /** It asked for a value while the database was away. */
  wasDatabaseAway: boolean;
}

function outputsOf(context: RunnerContext, task: RunTask, runId: string, progress: RunProgress): RunOutputs {
  const { sourceId, accountId } = task.runtime;
  const tenant = { id: accountId, limits: task.limits.account, trace: traceOf(task) };
  const onAway = () => {
    progress.wasDatabaseAway = true;
  };
  const current = (part: OutputPart) => withoutSuperseded(context, sourceId, runId, part);
  const lease = heldBy(task, runId);
  const outputs = createRunOutputs({
    ...(lease === undefined ? {} : { live: context.live.begin({ accountId, emitterId: sourceId, lease }) }),
    readDbValue: async (key) =>
      context.overlay.get(sourceId, key) ?? (await context.readDbValue(sourceId, key, onAway)),
    fetch: (request, signal) => context.fetch(tenant, request, signal),
    dataStore: (call, signal) => context.callDataStore(tenant, call, signal, onAway),
    respond: (response, hasOutput) => task.respond?.(response, hasOutput),
    // The order of events decides which of them are greater than all before.
    holdsParts: task.runtime.dedupe === 'greatest',
    // `last` decides on all events of a run together; a hook has no invocation that could go on.
    commitPart:
      task.runtime.dedupe === 'last' || task.invocation === undefined
        ? undefined
        : async (part) => {
            const { committed, exceeded, counts } = await context.commit({
              ...commitOf(task, current(part), {
                final: false,
                ran: { fromMs: progress.startedAtMs, toMs: context.nowMs() },
              }),
              ...earlierOf(progress),
            });
            progress.exceeded ??= exceeded;
            if (counts !== undefined) progress.counts = counts;
            if (!committed) throw new Error(`The lease of ${runId} was lost while it ran`);
          },
    nowMs: context.nowMs,
  });
  const { host } = outputs;
  return {
    ...outputs,
    host: {
      ...host,
      dbGet: (key) => context.readDbInTurn(accountId, () => host.dbGet(key)),
      dbSet(key, valueJson) {
        context.overlay.set(sourceId, storableText(key), valueJson, runId);
        host.dbSet(key, valueJson);
      },
    },
  };
}

/** A hook has no trace. */
function traceOf({ invocation }: RunTask): FetchTenant['trace'] {
  if (invocation === undefined) return undefined;
  const { id, cause } = invocation;
  return { rootId: cause?.traceId ?? id, span: ['run', id] };
}

/** Lease under which this node shows lines of the run; undefined if there is none. */
function heldBy({ invocation, change }: RunTask, runId: string) {
  // Without a row nothing tells other nodes that the lines end.
  if (invocation !== undefined) return invocation.isUnstored ? undefined : leaseOf(invocation);
  return change === undefined ? undefined : { id: runId, change };
}

const earlierOf = ({ counts }: RunProgress) => (counts === undefined ? {} : { earlier: counts });

interface EndedRun {
  outcome: RunOutcome;
  runId: string;
  startedAtMs: number;
  progress: RunProgress;
  redactor: Redactor | undefined;
  /** How many of its lines were shown before. */
  liveLines: number;
}

/** Answers what the run ends with: that it stored too much is found out in its commits. */
async function commitEnd(
  context: RunnerContext,
  task: RunTask,
  outputs: RunOutputs,
  ended: EndedRun,
): Promise<{ committed: boolean; outcome: RunOutcome }> {
  const rest = await outputs.finish();
  const failure = outputs.failed();
  if (failure !== undefined) throw failure;
  const outcome = overLimit(ended.outcome, ended.progress.exceeded);
  const logs = await storeLines(outputs.logs);
  const nowMs = context.nowMs();
  const record = recordOf(task, logs, { ...ended, outcome }, nowMs);
  const ownFault = failedRunOf(task, { ...ended, outcome }, nowMs);
  if (record !== undefined && ownFault !== undefined)
    record.errorEvent = await errorEventJson(ownFault, ended.redactor);
  const recordOver = (limit: ExceededLimit) => {
    const over = { ...ended, outcome: overLimit(outcome, limit) };
    const row = recordOf(task, logs, over, nowMs);
    const fault = failedRunOf(task, over, nowMs);
    return row && fault && { ...row, errorEvent: errorEventJsonAtOnce(fault, ended.redactor) };
  };
  const ran = { fromMs: ended.startedAtMs, toMs: context.nowMs() };
  const part = withoutSuperseded(context, task.runtime.sourceId, ended.runId, rest);
  const { committed, exceeded } = await context.commit({
    ...commitOf(task, part, { final: true, ran, ...(record === undefined ? {} : { record }) }),
    ...earlierOf(ended.progress),
    recordOverLimit: recordOver,
  });
  if (!committed && task.change !== undefined) throw leaseLost(task.change.sourceId);
  return { committed, outcome: overLimit(outcome, exceeded) };
}

/** A run that failed for a reason of its own keeps that one. */
function overLimit(outcome: RunOutcome, limit: ExceededLimit | undefined): RunOutcome {
  if (!outcome.ok || limit === undefined) return outcome;
  return { ...outcome, ok: false, fault: limitFault(limit), innocent: false };
}

/** Leaves out values that an overlapping run has set later: it has committed them, or will. */
function withoutSuperseded(context: RunnerContext, sourceId: string, runId: string, part: OutputPart): OutputPart {
  if (part.dbWrites.size === 0) return part;
  const kept = [...part.dbWrites].filter(([key]) => !context.overlay.isSuperseded(sourceId, key, runId));
  return { ...part, dbWrites: new Map(kept) };
}

function commitOf(
  task: RunTask,
  part: OutputPart,
  end: Required<Pick<RunCommit, 'final' | 'ran'>> & { record?: RunRow },
): RunCommit {
  const { invocation, change, runtime } = task;
  return {
    accountId: runtime.accountId,
    sourceId: runtime.sourceId,
    ...(invocation === undefined ? {} : { invocation: leaseOf(invocation) }),
    ...(change === undefined ? {} : { change }),
    dedupe: runtime.dedupe,
    emits: part.emits,
    dbWrites: part.dbWrites,
    maxDbBytes: task.limits.account.maxDbBytes,
    maxAllDbBytes: task.limits.account.maxAllDbBytes,
    maxEventHops: task.limits.account.maxEventHops,
    ...end,
  };
}

/**
 * A run that neither logged nor failed leaves no record besides its events. Without what goes to
 * `$errors`.
 */
function recordOf(task: RunTask, logs: string, ended: EndedRun, nowMs: number): RunRow | undefined {
  const { outcome, runId, startedAtMs, liveLines } = ended;
  if (outcome.ok && logs === NO_LINES) return undefined;
  const base = { id: runId, kind: task.kind, logs, liveLines, startedAtMs, endedAtMs: nowMs };
  if (outcome.ok) return base;
  const { code, message, stack, limit } = outcome.fault;
  return {
    ...base,
    errorCode: code,
    errorMessage: storableText(message),
    ...(stack === undefined ? {} : { errorStack: storableText(stack) }),
    ...(limit === undefined ? {} : { errorLimit: limit }),
  };
}

/** Undefined if the run succeeded. */
function failedRunOf(task: RunTask, { outcome, runId, startedAtMs }: EndedRun, nowMs: number): FailedRun | undefined {
  if (outcome.ok) return undefined;
  const { code, message, stack, limit } = outcome.fault;
  const details = { ...(stack === undefined ? {} : { stack }), ...(limit === undefined ? {} : { limit }) };
  return {
    error: { code, message, ts: nowMs, ...details },
    originalEvent: originalEventOf(task.entry),
    originalContext: {
      id: runId,
      ts: new Date(startedAtMs).toISOString(),
      emitter_id: task.runtime.sourceId,
      ...originOf(task.invocation),
    },
  };
}

function originalEventOf(entry: RunEntry): string {
  if (entry.kind === 'run') return entry.event;
  return JSON.stringify(entry.kind === 'hook' ? { hook: entry.hook } : { entry: entry.kind });
}
