import type { EventRow, ExecutionRow, Outcome, SentRequest, StepCall } from './records.ts';

/** A promise, with the records that break it. Empty `broken`: it holds. */
export interface Promised {
  name: string;
  broken: unknown[];
}

/** `dedupe: unique` remembers this many ids of a source. */
const REMEMBERED_IDS = 100;

/** Accounts for every id. Pure: the same records give the same judgement. */
export function judge(outcome: Outcome): Promised[] {
  return [...judgeAnswers(outcome), ...judgeEvents(outcome), ...judgeDeliveries(outcome), ...judgeExecutions(outcome)];
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

interface Emitted extends EventRow {
  id: string;
  request: number;
}

function judgeEvents({ requests, sourceEvents, ticks, failedRuns, stuck }: Outcome): Promised[] {
  const sent = new Map(requests.filter(({ to }) => to === 'source').map((one) => [one.request, one]));
  const emitted = sourceEvents.map((events) => events.map(parseEvent));
  const ids = new Set(emitted.flat().map(({ id }) => id));
  const accepted = [...sent.values()].filter(({ answer }) => answer === 'accepted');
  const isGhost = ({ request, id }: Emitted) => sent.get(request)?.id !== id;
  return [
    { name: 'source ids accepted and not emitted', broken: accepted.filter(({ id }) => !ids.has(id)) },
    { name: 'requests emitted twice', broken: repeated(emitted.flat(), ({ request }) => request) },
    { name: 'runs committed twice', broken: repeated([...sourceEvents, ...ticks].flat(), (row) => row.invocationId) },
    { name: 'ids emitted again while remembered', broken: emitted.flatMap(violationsOfDedupe) },
    { name: 'events that nobody sent', broken: emitted.flat().filter(isGhost) },
    { name: 'ticks doubled', broken: ticks.flatMap((events) => repeated(events.map(parseTick), ({ tick }) => tick)) },
    { name: 'runs given up (RUN_ABANDONED)', broken: failedRuns.filter(({ code }) => code === 'RUN_ABANDONED') },
    { name: 'runs failed otherwise', broken: failedRuns.filter(({ code }) => code !== 'RUN_ABANDONED') },
    { name: 'rows stuck at the end', broken: [...stuck] },
  ];
}

const parseEvent = (row: EventRow): Emitted => ({
  ...row,
  ...(JSON.parse(row.data) as { id: string; request: number }),
});
const parseTick = (row: EventRow) => ({ ...row, ...(JSON.parse(row.data) as { tick: number }) });

/** All but the first of each key. */
function repeated<T>(list: readonly T[], keyOf: (item: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  });
}

/** Emitted again among the `REMEMBERED_IDS` that follow. Beyond those it may be. */
function violationsOfDedupe(events: readonly Emitted[]): Emitted[] {
  const lastAt = new Map<string, number>();
  return events.filter(({ id }, i) => {
    const before = lastAt.get(id);
    lastAt.set(id, i);
    return before !== undefined && i - before <= REMEMBERED_IDS;
  });
}

function judgeDeliveries({ messages, sourceEvents, ticks, subscribedAtMs }: Outcome): Promised[] {
  const events = [...sourceEvents, ...ticks].flat();
  const byMessage = new Map(events.map((event) => [event.messageId, event]));
  const all = [...messages.values()];
  const isDelivered = ({ messageId }: EventRow) => (messages.get(messageId)?.taken ?? 0) > 0;
  const expected = events.filter(({ indexedAtMs }) => indexedAtMs >= subscribedAtMs);
  return [
    { name: 'events not delivered', broken: expected.filter((event) => !isDelivered(event)) },
    { name: 'messages of no event', broken: all.filter(({ id }) => !byMessage.has(id)) },
    {
      name: 'messages with another body than their event',
      broken: all.filter(({ id, bodies }) => bodies.some((body) => body !== (byMessage.get(id)?.data ?? body))),
    },
  ];
}

function judgeExecutions({ requests, executions, calls, steps }: Outcome): Promised[] {
  const sent = new Map(requests.filter(({ to }) => to === 'workflow').map((one) => [one.request, one]));
  const started = new Set(executions.map(({ request }) => request));
  const accepted = [...sent.values()].filter(({ answer }) => answer === 'accepted');
  const isGhost = ({ request }: ExecutionRow) => request === null || !sent.has(request);
  return [
    { name: 'requests accepted without an execution', broken: accepted.filter(({ request }) => !started.has(request)) },
    { name: 'requests with two executions', broken: repeated(executions, ({ request }) => request) },
    { name: 'executions that nobody asked for', broken: executions.filter(isGhost) },
    { name: 'executions not succeeded', broken: executions.filter(({ status }) => status !== 'succeeded') },
    { name: 'steps repeated after completion', broken: repeatedSteps(calls, steps) },
    { name: 'executions succeeded without all steps', broken: withoutCalls(executions, calls, steps) },
  ];
}

/** A step's run that began after a later step of its execution had been seen outside. */
function repeatedSteps(calls: readonly StepCall[], steps: readonly string[]): StepCall[] {
  const positionOf = ({ step }: StepCall) => steps.indexOf(step);
  return callsByExecution(calls).flatMap((ofOne) =>
    ofOne.filter((call) => ofOne.some((other) => positionOf(other) > positionOf(call) && other.atMs < call.begunAtMs)),
  );
}

/**
 * Calls that came after a later step's, but of runs that had begun before: a frozen node sent them
 * when it went on.
 */
export function lateCalls(calls: readonly StepCall[], steps: readonly string[]): StepCall[] {
  const positionOf = ({ step }: StepCall) => steps.indexOf(step);
  return callsByExecution(calls).flatMap((ofOne) =>
    ofOne.filter((call) => {
      const later = ofOne.filter((other) => positionOf(other) > positionOf(call));
      return later.some(({ atMs }) => atMs < call.atMs) && !later.some(({ atMs }) => atMs < call.begunAtMs);
    }),
  );
}

function callsByExecution(calls: readonly StepCall[]): StepCall[][] {
  return [...Map.groupBy(calls, ({ execution }) => execution).values()];
}

function withoutCalls(
  executions: readonly ExecutionRow[],
  calls: readonly StepCall[],
  steps: readonly string[],
): ExecutionRow[] {
  const called = new Set(calls.map(({ execution, step }) => `${execution} ${step}`));
  return executions.filter(
    ({ id, status }) => status === 'succeeded' && !steps.every((step) => called.has(`${id} ${step}`)),
  );
}
