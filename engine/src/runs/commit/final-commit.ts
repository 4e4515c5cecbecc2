import { createGiveWay, type EmittedEvent, type ExceededLimit, isShortJson, newId } from '@headwater/shared';
import { limitFault, type RunFault } from '@headwater/sandbox-runtime';
import type { RunCommit, RunRow } from './commit-plan.ts';
import { type HeldInvocation, leaseOf, originOf, SSE_CHANNEL } from '../../events/index.ts';
import { errorEventJson, errorEventJsonAtOnce, type FailedRun } from './error-event.ts';
import { type Redactor, type Sealer, underCurrentKey } from '../../secrets/index.ts';
import type { NewSend } from '../../outbox/index.ts';
import type { ExecutionCommit, ExecutionEnd, StoredSend } from './execution-rows.ts';

/** How an execution failed, and in which step. */
export interface ExecutionFault {
  fault: RunFault;
  /** Absent if it failed before its first step. */
  step?: { id: string; namespace: string };
  redactor?: Redactor | undefined;
}

export interface FinalCommit {
  execution: ExecutionCommit & { end: ExecutionEnd };
  invocation: HeldInvocation;
  /** Sends of all its steps, in order. */
  sends: readonly StoredSend[];
  /** JSON texts of lists. */
  logs: readonly string[];
  failure: ExecutionFault | undefined;
  /** If no step failed, the redactors of all steps check what is reported about the execution. */
  deployment: { steps: readonly { redactor?: Redactor }[] };
  maxEventHops: number;
  sealer: Pick<Sealer, 'rewrap' | 'currentPrefix'>;
}

/** Whether its end is no more than the execution's own rows. */
export function hasOnlyOwnRows({ sends, logs, failure }: FinalCommit): boolean {
  return sends.length === 0 && failure === undefined && logs.every((lines) => lines === '[]');
}

/** Everything that the execution brings, for one commit together with its end. */
export async function runCommitOf(final: FinalCommit): Promise<RunCommit> {
  const { execution, invocation, maxEventHops, failure } = final;
  const { start, end } = execution;
  const record = recordOf(final, failure);
  if (record !== undefined && failure !== undefined) record.errorEvent = await errorEventOf(final, failure);
  return {
    accountId: execution.key.accountId,
    sourceId: execution.key.workflowId,
    invocation: leaseOf(invocation),
    final: true,
    ran: { fromMs: start.startedAtMs, toMs: end.endedAtMs },
    dedupe: undefined,
    emits: final.sends.flatMap((send) => eventsOf(send, end.endedAtMs)),
    dbWrites: new Map(),
    maxEventHops,
    recordOverLimit(limit) {
      const over = { fault: limitFault(limit) };
      const row = recordOf(final, over);
      const told = errorEventJsonAtOnce(failedRunOf(final, over), undefined);
      return row && { ...row, errorEvent: redactorsOf(final).reduce((text, redactor) => redactor.json(text), told) };
    },
    ...(record === undefined ? {} : { record }),
    execution,
    sends: await newSends(final),
  };
}

/** The end of an execution that turned out to be over a limit when it was committed. */
export function endOverLimit(end: ExecutionEnd, limit: ExceededLimit): ExecutionEnd {
  if (end.status === 'failed') return end;
  const { reason: _, ...rest } = end;
  return { ...rest, status: 'failed', error: JSON.stringify(limitFault(limit)) };
}

function redactorsOf({ deployment }: FinalCommit): Redactor[] {
  return deployment.steps.flatMap(({ redactor }) => redactor ?? []);
}

async function errorEventOf(final: FinalCommit, failure: ExecutionFault): Promise<string> {
  let told = await errorEventJson(failedRunOf(final, failure), failure.redactor);
  if (failure.redactor !== undefined) return told;
  for (const redactor of redactorsOf(final)) told = await redactor.jsonInTurns(told);
  return told;
}

/** Without what goes to `$errors`. */
function recordOf(final: FinalCommit, failure: ExecutionFault | undefined): RunRow | undefined {
  const { execution, logs } = final;
  const lines = logs.filter((text) => text !== '[]').map((text) => text.slice(1, -1));
  if (failure === undefined && lines.length === 0) return undefined;
  const { start, end, key } = execution;
  const base = {
    id: key.id,
    kind: start.kind,
    logs: `[${lines.join(',')}]`,
    startedAtMs: start.startedAtMs,
    endedAtMs: end.endedAtMs,
  };
  if (failure === undefined) return base;
  const { code, message, limit } = failure.fault;
  return {
    ...base,
    errorCode: code,
    errorMessage: message,
    ...(limit === undefined ? {} : { errorLimit: limit }),
  };
}

function failedRunOf({ execution, invocation }: FinalCommit, { fault, step }: ExecutionFault): FailedRun {
  const { code, message, stack, limit } = fault;
  const error = {
    code,
    message,
    ts: execution.end.endedAtMs,
    ...(step === undefined ? {} : { cellId: step.id, namespace: step.namespace }),
    ...(stack === undefined ? {} : { stack }),
    ...(limit === undefined ? {} : { limit }),
  };
  const context = JSON.parse(execution.start.context) as { id: string; emitter_id: string };
  const originalContext = { ...context, ...originOf(invocation) };
  return { error, originalEvent: execution.start.event, originalContext };
}

function eventsOf({ kind, payload }: StoredSend, nowMs: number): EmittedEvent[] {
  if (kind === 'sse') return [{ data: payload, name: SSE_CHANNEL, emittedAtMs: nowMs }];
  if (kind !== 'emit') return [];
  const { event, name } = readEmit(payload);
  return [{ data: event, ...(name === undefined ? {} : { name }), emittedAtMs: nowMs }];
}

const EMIT_HEAD = '{"raw_event":';
/**
 * The last member. Strings within the event cannot look like its name, because their quotes have
 * backslashes.
 */
const EMIT_NAME = /,"name":("(?:[^"\\]|\\.)*")\}$/;
/** Maximum length of a channel as JSON, with marks in place of secrets. */
const MAX_TAIL_CHARS = 4_096;

/**
 * `{ raw_event, name? }`, which the guest has written. The event goes on as the text it is: written
 * again, one with enough levels of nesting would overflow the stack, and parsing one of a megabyte
 * can take a tenth of a second.
 */
function readEmit(payload: string): { event: string; name?: string } {
  // Only a compromised process writes this.
  if (!payload.startsWith(EMIT_HEAD) || !payload.endsWith('}')) return { event: 'null' };
  const [tail = '}', nameJson] = EMIT_NAME.exec(payload.slice(-MAX_TAIL_CHARS)) ?? [];
  const event = payload.slice(EMIT_HEAD.length, -tail.length);
  if (nameJson === undefined) return { event };
  return isShortJson(nameJson) === true ? { event, name: JSON.parse(nameJson) as string } : { event: 'null' };
}

/**
 * Reseals content with the current key, because the execution may have waited past a key rotation.
 * Yields to other work: there may be thousands of sends with megabytes in total.
 */
async function newSends({ sends, sealer, execution: { key, start } }: FinalCommit): Promise<NewSend[]> {
  const giveWay = createGiveWay();
  const { id: executionId, accountId, workflowId } = key;
  const base = { accountId, workflowId, executionId, traceId: start.traceId };
  const made: NewSend[] = [];
  for (const { kind, payload, sealed } of sends) {
    if (kind === 'emit' || kind === 'sse') continue;
    const content = sealed === undefined ? {} : { sealed: underCurrentKey(sealer, accountId, sealed) };
    made.push({ ...base, id: newId('send'), kind, payload, ...content });
    if (sealed !== undefined) await giveWay();
  }
  return made;
}
