import { STEPS, WAITING_STEPS } from './components.ts';
import { judgeAsked } from './judge-asked.ts';
import { judgeNumbers } from './judge-numbers.ts';
import { judgeNotes } from './judge-notes.ts';
import { judgeWaits } from './judge-waits.ts';
import { type Promised, repeated } from './promised.ts';
import type { EventRow, ExecutionRow, Outcome, SentRequest, StepCall, TenantOutcome } from './records.ts';

/** `dedupe: unique` remembers this many ids of a source. */
const REMEMBERED_IDS = 100;

/** Accounts for every id. Pure: the same records give the same judgement. */
export function judge(outcome: Outcome): Promised[] {
  return [
    ...judgeAnswers(outcome),
    ...judgeEvents(outcome),
    ...judgeDeliveries(outcome),
    ...judgeNumbers(outcome),
    ...judgeNotes(outcome),
    ...judgeAsked(outcome),
    ...judgeExecutions(outcome),
    ...judgeWaits(outcome),
  ];
}

function judgeAnswers({ requests }: Outcome): Promised[] {
  const answered = (...answers: SentRequest['answer'][]) => requests.filter(({ answer }) => answers.includes(answer));
  return [
    { name: 'answers 500, 502 or 504', broken: answered('error') },
    { name: 'other answers than 200, 429, 503', broken: answered('odd').filter((sent) => !isLate(sent)) },
    { name: 'refusals without Retry-After', broken: answered('refused').filter((sent) => !sent.hasRetryAfter) },
    { name: 'resets by a graceful stop', broken: answered('reset').filter((sent) => sent.wasStopping) },
    { name: 'no answer in 30 s of a node that lives', broken: answered('silent').filter((sent) => !sent.wasDisturbed) },
  ];
}

/** A node that stood still found requests in its sockets that were too old by then. */
const isLate = ({ wasDisturbed, detail }: SentRequest) => wasDisturbed && detail.startsWith('408 ');

interface Emitted {
  id: string;
  request: number;
  /** Its place among the events of its request. */
  at: number;
  invocationId: string | null;
}

function judgeEvents({ requests, emits, tenants, failedRuns, stuck }: Outcome): Promised[] {
  const sent = new Map(requests.filter(({ to }) => to === 'source').map((one) => [one.request, one]));
  const emitted = tenants.map(({ sourceEvents }) => sourceEvents.map(parseEvent));
  const all = emitted.flat();
  const ids = new Set(all.map(dedupeId));
  const places = Array.from({ length: emits }, (_, at) => at);
  const isMissing = ({ answer, id }: SentRequest) =>
    answer === 'accepted' && !places.every((at) => ids.has(dedupeId({ id, at })));
  const isGhost = ({ request, id, at }: Emitted) => sent.get(request)?.id !== id || at >= emits;
  const ticks = tenants.map((tenant) => tenant.ticks.map(parseTick));
  const ofRun = ({ invocationId, at }: { invocationId: string | null; at: number }) => `${invocationId} ${at}`;
  const ofRuns = [...all, ...ticks.flat().map(({ invocationId }) => ({ invocationId, at: 0 }))];
  return [
    { name: 'source ids accepted and not emitted', broken: [...sent.values()].filter(isMissing) },
    { name: 'requests emitted twice', broken: repeated(all, ({ request, at }) => request * emits + at) },
    { name: 'runs committed twice', broken: repeated(ofRuns, ofRun) },
    { name: 'ids emitted again while remembered', broken: emitted.flatMap(violationsOfDedupe) },
    { name: 'events that nobody sent', broken: all.filter(isGhost) },
    { name: 'ticks doubled', broken: ticks.flatMap((events) => repeated(events, ({ tick }) => tick)) },
    { name: 'runs given up (RUN_ABANDONED)', broken: failedRuns.filter(({ code }) => code === 'RUN_ABANDONED') },
    { name: 'runs failed otherwise', broken: failedRuns.filter(({ code }) => code !== 'RUN_ABANDONED') },
    { name: 'rows stuck at the end', broken: [...stuck] },
  ];
}

const dedupeId = ({ id, at }: { id: string; at: number }) => `${id}.${at}`;
const parseEvent = ({ data, invocationId }: EventRow): Emitted => ({
  ...(JSON.parse(data) as { id: string; request: number; at: number }),
  invocationId,
});
const parseTick = (row: EventRow) => ({ ...row, ...(JSON.parse(row.data) as { tick: number }) });

/** Emitted again among the `REMEMBERED_IDS` that follow. Beyond those it may be. */
function violationsOfDedupe(events: readonly Emitted[]): Emitted[] {
  const lastAt = new Map<string, number>();
  return events.filter((event, i) => {
    const id = dedupeId(event);
    const before = lastAt.get(id);
    lastAt.set(id, i);
    return before !== undefined && i - before <= REMEMBERED_IDS;
  });
}

function judgeDeliveries({ tenants }: Outcome): Promised[] {
  const judged = tenants.map(judgePlainWebhook);
  return [
    { name: 'events not delivered', broken: judged.flatMap(({ missing }) => missing) },
    { name: 'messages of no event', broken: judged.flatMap(({ ghosts }) => ghosts) },
    { name: 'messages with another body than their event', broken: judged.flatMap(({ changed }) => changed) },
  ];
}

function judgePlainWebhook({ sourceEvents, ticks, hooks, subscribedAtMs }: TenantOutcome) {
  const messages = hooks.get('plain') ?? new Map<string, never>();
  const byMessage = new Map([...sourceEvents, ...ticks].map((event) => [event.messageId, event]));
  const isDelivered = ({ messageId }: EventRow) => (messages.get(messageId)?.taken ?? 0) > 0;
  const all = [...messages.values()];
  return {
    missing: [...byMessage.values()].filter((event) => event.indexedAtMs >= subscribedAtMs && !isDelivered(event)),
    ghosts: all.filter(({ id }) => !byMessage.has(id)),
    changed: all.filter(({ id, bodies }) => bodies.some((body) => body !== (byMessage.get(id)?.data ?? body))),
  };
}

function judgeExecutions({ requests, executions, calls }: Outcome): Promised[] {
  const sent = new Map(requests.filter(isOfWorkflow).map((one) => [one.request, one]));
  const started = new Set(executions.map(({ request }) => request));
  const accepted = [...sent.values()].filter(({ answer }) => answer === 'accepted');
  const isGhost = ({ request }: ExecutionRow) => request === null || !sent.has(request);
  return [
    { name: 'requests accepted without an execution', broken: accepted.filter(({ request }) => !started.has(request)) },
    { name: 'requests with two executions', broken: repeated(executions, ({ request }) => request) },
    { name: 'executions that nobody asked for', broken: executions.filter(isGhost) },
    { name: 'executions not succeeded', broken: executions.filter(({ status }) => status !== 'succeeded') },
    { name: 'steps repeated after completion', broken: repeatedSteps(calls) },
    { name: 'steps begun after the end of their execution', broken: callsAfterEnd(executions, calls) },
    { name: 'executions succeeded without all steps', broken: withoutCalls(executions, calls, sent) },
  ];
}

const isOfWorkflow = ({ to }: SentRequest) => to === 'workflow' || to === 'waits';

/** The place of a step in its workflow. No step of one has the name of a step of the other. */
const POSITIONS = new Map<string, number>(
  [STEPS, WAITING_STEPS].flatMap((steps) => steps.map((step, i): [string, number] => [step, i])),
);
const positionOf = ({ step }: StepCall) => POSITIONS.get(step) ?? -1;

/** A step's run that began after a later step of its execution had been seen outside. */
function repeatedSteps(calls: readonly StepCall[]): StepCall[] {
  return callsByExecution(calls).flatMap((ofOne) =>
    ofOne.filter((call) => ofOne.some((other) => positionOf(other) > positionOf(call) && other.atMs < call.begunAtMs)),
  );
}

/**
 * Calls that came after a later step's, but of runs that had begun before: a frozen node sent them
 * when it went on.
 */
export function lateCalls(calls: readonly StepCall[]): StepCall[] {
  return callsByExecution(calls).flatMap((ofOne) =>
    ofOne.filter((call) => {
      const later = ofOne.filter((other) => positionOf(other) > positionOf(call));
      return later.some(({ atMs }) => atMs < call.atMs) && !later.some(({ atMs }) => atMs < call.begunAtMs);
    }),
  );
}

function callsAfterEnd(executions: readonly ExecutionRow[], calls: readonly StepCall[]): StepCall[] {
  const endedAtMs = new Map(executions.map((one) => [one.id, one.endedAtMs ?? Infinity]));
  return calls.filter(({ execution, begunAtMs }) => begunAtMs > (endedAtMs.get(execution) ?? Infinity));
}

function callsByExecution(calls: readonly StepCall[]): StepCall[][] {
  return [...Map.groupBy(calls, ({ execution }) => execution).values()];
}

function withoutCalls(
  executions: readonly ExecutionRow[],
  calls: readonly StepCall[],
  sent: ReadonlyMap<number | null, SentRequest>,
): ExecutionRow[] {
  const called = new Set(calls.map(({ execution, step }) => `${execution} ${step}`));
  const hasAll = ({ id, request }: ExecutionRow) => {
    const steps = sent.get(request)?.to === 'waits' ? WAITING_STEPS : STEPS;
    return steps.every((step) => called.has(`${id} ${step}`));
  };
  return executions.filter((execution) => execution.status === 'succeeded' && !hasAll(execution));
}
