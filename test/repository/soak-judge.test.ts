import { expect, test } from 'vitest';
import { readArguments } from '../soak/arguments.ts';
import { judge } from '../soak/judge.ts';
import { planFaults } from '../soak/plan-faults.ts';
import { createRandom } from '../soak/random.ts';
import type { EventRow, ExecutionRow, Outcome, SentRequest, StepCall } from '../soak/records.ts';
import { formatReport, isClean } from '../soak/report.ts';

const STEPS = ['one', 'two', 'three'];
let runs = 0;

function sent(request: number, fields: Partial<SentRequest> = {}): SentRequest {
  return {
    request,
    to: 'source',
    tenant: 0,
    id: `id-${request}`,
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

function event(name: string, data: Record<string, unknown>): EventRow {
  return {
    emitterId: 'dc_1',
    messageId: `evt_${name}`,
    invocationId: `inv_${++runs}`,
    indexedAtMs: 2_000,
    data: JSON.stringify(data),
  };
}

const emitted = (request: number, id = `id-${request}`) => event(`e${request}`, { id, request });
const tick = (name: string, at: number) => event(`t${name}`, { tick: at, run: name });

function execution(request: number, fields: Partial<ExecutionRow> = {}): ExecutionRow {
  return { id: `exec_${request}`, status: 'succeeded', error: null, request, ...fields };
}

function call(request: number, step: string, atMs: number, begunAtMs = atMs - 1): StepCall {
  return { request, step, execution: `exec_${request}`, begunAtMs, atMs };
}

const delivered = (rows: EventRow[]) =>
  new Map(rows.map(({ messageId: id, data }) => [id, { id, bodies: [data], taken: 1, failed: 0 }]));

/** Two events, two ticks and an execution without faults, with the changes of a test. */
function outcome(changes: Partial<Outcome> = {}): Outcome {
  const sourceEvents = changes.sourceEvents ?? [[emitted(1), emitted(2)], []];
  const ticks = changes.ticks ?? [[tick('a', 1), tick('b', 2)], []];
  return {
    requests: [sent(1), sent(2), sent(3, { to: 'workflow' })],
    messages: delivered([...sourceEvents, ...ticks].flat()),
    calls: STEPS.map((step, i) => call(3, step, 100 * (i + 1))),
    sourceEvents,
    ticks,
    executions: [execution(3)],
    failedRuns: [],
    stuck: [],
    subscribedAtMs: 1_000,
    steps: STEPS,
    ...changes,
  };
}

const brokenIn = (changes: Partial<Outcome>) =>
  Object.fromEntries(
    judge(outcome(changes)).flatMap(({ name, broken }) => (broken.length === 0 ? [] : [[name, broken.length]])),
  );

test('a run in which everything arrived once breaks nothing', () => {
  expect(brokenIn({})).toEqual({});
});

test('what was not accepted may be emitted or not', () => {
  const refused = [sent(1, { answer: 'reset' }), sent(2, { answer: 'reset' }), sent(3, { to: 'workflow' })];
  expect(brokenIn({ requests: refused, sourceEvents: [[emitted(1)], []] })).toEqual({});
});

test.each<[string, Partial<Outcome>]>([
  ['source ids accepted and not emitted', { sourceEvents: [[emitted(1)], []] }],
  ['events that nobody sent', { sourceEvents: [[emitted(1), emitted(2), emitted(77)], []] }],
  ['events that nobody sent', { sourceEvents: [[emitted(1), emitted(2), emitted(3)], []] }],
  [
    'runs committed twice',
    {
      ticks: [
        [tick('a', 1), { ...tick('b', 2), invocationId: 'inv_1' }, { ...tick('c', 3), invocationId: 'inv_1' }],
        [],
      ],
    },
  ],
  ['ticks doubled', { ticks: [[tick('a', 1), tick('b', 1)], []] }],
  ['events not delivered', { messages: delivered([emitted(1), tick('a', 1), tick('b', 2)]) }],
  ['messages of no event', { messages: delivered([emitted(1), emitted(2), tick('a', 1), tick('b', 2), emitted(5)]) }],
  ['requests accepted without an execution', { executions: [], calls: [] }],
  ['requests with two executions', { executions: [execution(3), execution(3, { id: 'exec_3' })] }],
  [
    'executions that nobody asked for',
    { executions: [execution(3), execution(1, { status: 'succeeded', id: 'exec_3' })] },
  ],
  ['executions not succeeded', { executions: [execution(3, { status: 'failed', error: 'WALL_LIMIT' })] }],
  ['executions succeeded without all steps', { calls: [call(3, 'one', 100), call(3, 'three', 300)] }],
  [
    'runs given up (RUN_ABANDONED)',
    { failedRuns: [{ id: 'inv_1', sourceId: 'dc_1', code: 'RUN_ABANDONED', message: null }] },
  ],
  ['runs failed otherwise', { failedRuns: [{ id: 'inv_1', sourceId: 'dc_1', code: 'WALL_LIMIT', message: null }] }],
  [
    'rows stuck at the end',
    { stuck: [{ kind: 'send', id: 'snd_1', owner: 'p_1', leasedBy: null, holderIsAlive: false, ageSeconds: 99 }] },
  ],
  ['answers 500, 502 or 504', { requests: [...outcome().requests, sent(4, { answer: 'error' })] }],
  ['other answers than 200, 429, 503', { requests: [...outcome().requests, sent(4, { answer: 'odd' })] }],
  [
    'refusals without Retry-After',
    { requests: [...outcome().requests, sent(4, { answer: 'refused', hasRetryAfter: false })] },
  ],
  [
    'resets by a graceful stop',
    { requests: [...outcome().requests, sent(4, { answer: 'reset', wasDisturbed: true, wasStopping: true })] },
  ],
  ['no answer in 30 s of a node that lives', { requests: [...outcome().requests, sent(4, { answer: 'silent' })] }],
])('%s: is found, and nothing else', (name, changes) => {
  expect(Object.keys(brokenIn(changes))).toEqual([name]);
});

test('a node that was frozen may say 408, and no other', () => {
  const late = sent(4, { answer: 'odd', detail: '408 Request Timeout', wasDisturbed: true });
  expect(brokenIn({ requests: [...outcome().requests, late] })).toEqual({});
  const odd = { 'other answers than 200, 429, 503': 1 };
  expect(brokenIn({ requests: [...outcome().requests, { ...late, wasDisturbed: false }] })).toEqual(odd);
});

test('what was emitted before the webhook was subscribed need not be delivered', () => {
  const early = { ...tick('early', 0), indexedAtMs: 999 };
  expect(brokenIn({ ticks: [[early], []], messages: delivered([emitted(1), emitted(2)]) })).toEqual({});
});

test('a frozen node need not answer', () => {
  const silent = sent(4, { answer: 'silent', wasDisturbed: true });
  expect(brokenIn({ requests: [...outcome().requests, silent] })).toEqual({});
});

test('an id that is emitted again breaks dedupe, unless a hundred others came between', () => {
  const repeatAfter = (others: number) => {
    const requests = Array.from({ length: others + 2 }, (_, i) => sent(10 + i, { id: `other-${i}` }));
    const last = requests.length - 1;
    const ids = requests.map((one, i) => (i === 0 || i === last ? { ...one, id: 'again' } : one));
    const events = ids.map(({ request, id }) => emitted(request, id));
    return brokenIn({ requests: [...outcome().requests, ...ids], sourceEvents: [[emitted(1), emitted(2)], events] });
  };
  expect(repeatAfter(5)).toEqual({ 'ids emitted again while remembered': 1 });
  expect(repeatAfter(99)).toEqual({ 'ids emitted again while remembered': 1 });
  expect(repeatAfter(100)).toEqual({});
});

test('a request that is emitted twice is found, also where dedupe has forgotten its id', () => {
  const requests = Array.from({ length: 101 }, (_, i) => sent(10 + i));
  const events = [...requests, sent(10)].map(({ request }) => emitted(request));
  const changes = { requests: [...outcome().requests, ...requests], sourceEvents: [[emitted(1), emitted(2)], events] };
  expect(brokenIn(changes)).toEqual({ 'requests emitted twice': 1 });
});

test('a step that begins after its successor was seen is a repeated one', () => {
  const calls = [...outcome().calls, call(3, 'one', 260, 250)];
  expect(brokenIn({ calls })).toEqual({ 'steps repeated after completion': 1 });
});

test('a step that began before its successor was seen is none, however late its request comes', () => {
  expect(brokenIn({ calls: [...outcome().calls, call(3, 'one', 900, 150)] })).toEqual({});
});

test('a step that runs again before its successor begins is at least once, and none', () => {
  expect(brokenIn({ calls: [...outcome().calls, call(3, 'one', 150, 149)] })).toEqual({});
});

test('the report says FAIL and counts for what is broken, and only then is it not clean', () => {
  const clean = { title: 'soak', figures: [], promises: judge(outcome()) };
  expect(isClean(clean)).toBe(true);
  expect(formatReport(clean)).not.toContain('FAIL');
  const broken = { ...clean, promises: judge(outcome({ executions: [], calls: [] })) };
  expect(isClean(broken)).toBe(false);
  expect(formatReport(broken)).toMatch(/FAIL\s+requests accepted without an execution\s+1/);
});

test('the same seed plans the same faults, another one others; two minutes see every kind', () => {
  const plan = (seed: number) => planFaults(createRandom(seed), 120_000);
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
  for (const seed of [1, 2, 3]) {
    expect(new Set(plan(seed).map(({ kind }) => kind)).size).toBe(11);
    expect(plan(seed).every(({ atMs }) => atMs < 120_000)).toBe(true);
  }
});

test('arguments out of their bounds are refused, all in one message', () => {
  expect(() => readArguments(['--minutes', '0', '--rate', 'many'])).toThrow(/--minutes[^]*--rate/);
  expect(readArguments(['--minutes', '10', '--seed', '4'])).toMatchObject({ minutes: 10, seed: 4, ratePerSecond: 130 });
});
