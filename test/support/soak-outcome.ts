import { STEPS } from '../soak/components.ts';
import { judge } from '../soak/judge.ts';
import type {
  EventRow,
  ExecutionRow,
  Messages,
  Outcome,
  SentRequest,
  StepCall,
  TenantOutcome,
} from '../soak/records.ts';

let runs = 0;

export function sent(request: number, fields: Partial<SentRequest> = {}): SentRequest {
  return {
    request,
    to: 'source',
    tenant: 0,
    id: `id-${request}`,
    turn: 0,
    node: 'api-1',
    sentAtMs: 1_000 + request,
    tookMs: 5,
    answer: 'accepted',
    wasDisturbed: false,
    wasStopping: false,
    hasRetryAfter: true,
    detail: '200',
    ...fields,
  };
}

export function event(name: string, data: Record<string, unknown>): EventRow {
  return {
    messageId: `evt_${name}`,
    invocationId: `inv_${++runs}`,
    indexedAtMs: 2_000,
    channel: '',
    data: JSON.stringify(data),
  };
}

export const emitted = (request: number, id = `id-${request}`) => event(`e${request}`, { id, request, at: 0 });
export const tick = (name: string, at: number) => event(`t${name}`, { tick: at, run: name });

export function execution(request: number, fields: Partial<ExecutionRow> = {}): ExecutionRow {
  return { id: `exec_${request}`, status: 'succeeded', error: null, request, endedAtMs: 10_000, ...fields };
}

export function call(request: number, step: string, atMs: number, begunAtMs = atMs - 1): StepCall {
  return { request, step, execution: `exec_${request}`, run: 1, begunAtMs, atMs };
}

/** Each taken at once, in this order. */
export const delivered = (rows: readonly EventRow[]): Messages =>
  new Map(
    rows.map(({ messageId: id, data }, i) => [
      id,
      { id, bodies: [data], taken: 1, failed: 0, firstTry: i + 1, firstTaken: i + 1 },
    ]),
  );

/** Two events and two ticks without faults, delivered, with the changes of a test. */
export function account(changes: Partial<TenantOutcome> & { plain?: Messages } = {}): TenantOutcome {
  const { plain, ...fields } = changes;
  const sourceEvents = fields.sourceEvents ?? [emitted(1), emitted(2)];
  const ticks = fields.ticks ?? [tick('a', 1), tick('b', 2)];
  return {
    sourceEvents,
    ticks,
    notes: [],
    numbers: { greatest: [], last: [] },
    asked: [],
    hooks: new Map([['plain', plain ?? delivered([...sourceEvents, ...ticks])]]),
    replays: [],
    subscribedAtMs: 1_000,
    ...fields,
  };
}

export const inAccount = (changes: Parameters<typeof account>[0]): Partial<Outcome> => ({
  tenants: [account(changes)],
});

/** An account and an execution without faults, with the changes of a test. */
export function outcome(changes: Partial<Outcome> = {}): Outcome {
  return {
    requests: [sent(1), sent(2), sent(3, { to: 'workflow' })],
    emits: 1,
    tenants: [account()],
    calls: STEPS.map((step, i) => call(3, step, 100 * (i + 1))),
    executions: [execution(3)],
    failedRuns: [],
    stuck: [],
    ...changes,
  };
}

/** Counts of what the judge finds broken, by the name of the promise. */
export const brokenIn = (changes: Partial<Outcome>) =>
  Object.fromEntries(
    judge(outcome(changes)).flatMap(({ name, broken }) => (broken.length === 0 ? [] : [[name, broken.length]])),
  );
