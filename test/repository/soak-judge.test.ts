import { expect, test } from 'vitest';
import { readArguments } from '../soak/arguments.ts';
import { RUNS_OF_AGAIN, STEPS, WAITING_STEPS } from '../soak/components.ts';
import { type Note, notesOf, numbersOf, passesFilter, waitsMsOf } from '../soak/expected.ts';
import { judge } from '../soak/judge.ts';
import { planFaults } from '../soak/plan-faults.ts';
import { createRandom } from '../soak/random.ts';
import type {
  EventRow,
  ExecutionRow,
  Messages,
  Outcome,
  SentRequest,
  StepCall,
  TenantOutcome,
} from '../soak/records.ts';
import { formatReport, isClean } from '../soak/report.ts';

const [FIRST, , LAST] = STEPS;
let runs = 0;

function sent(request: number, fields: Partial<SentRequest> = {}): SentRequest {
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

function event(name: string, data: Record<string, unknown>): EventRow {
  return {
    messageId: `evt_${name}`,
    invocationId: `inv_${++runs}`,
    indexedAtMs: 2_000,
    channel: '',
    data: JSON.stringify(data),
  };
}

const emitted = (request: number, id = `id-${request}`) => event(`e${request}`, { id, request, at: 0 });
const tick = (name: string, at: number) => event(`t${name}`, { tick: at, run: name });

function execution(request: number, fields: Partial<ExecutionRow> = {}): ExecutionRow {
  return { id: `exec_${request}`, status: 'succeeded', error: null, request, endedAtMs: 10_000, ...fields };
}

function call(request: number, step: string, atMs: number, begunAtMs = atMs - 1): StepCall {
  return { request, step, execution: `exec_${request}`, run: 1, begunAtMs, atMs };
}

/** Each taken at once, in this order. */
const delivered = (rows: readonly EventRow[]): Messages =>
  new Map(
    rows.map(({ messageId: id, data }, i) => [
      id,
      { id, bodies: [data], taken: 1, failed: 0, firstTry: i + 1, firstTaken: i + 1 },
    ]),
  );

/** Two events and two ticks without faults, delivered, with the changes of a test. */
function account(changes: Partial<TenantOutcome> & { plain?: Messages } = {}): TenantOutcome {
  const { plain, ...fields } = changes;
  const sourceEvents = fields.sourceEvents ?? [emitted(1), emitted(2)];
  const ticks = fields.ticks ?? [tick('a', 1), tick('b', 2)];
  return {
    sourceEvents,
    ticks,
    notes: [],
    numbers: { greatest: [], last: [] },
    hooks: new Map([['plain', plain ?? delivered([...sourceEvents, ...ticks])]]),
    replays: [],
    subscribedAtMs: 1_000,
    ...fields,
  };
}

const inAccount = (changes: Parameters<typeof account>[0]): Partial<Outcome> => ({ tenants: [account(changes)] });

/** An account and an execution without faults, with the changes of a test. */
function outcome(changes: Partial<Outcome> = {}): Outcome {
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

const brokenIn = (changes: Partial<Outcome>) =>
  Object.fromEntries(
    judge(outcome(changes)).flatMap(({ name, broken }) => (broken.length === 0 ? [] : [[name, broken.length]])),
  );

test('a run in which everything arrived once breaks nothing', () => {
  expect(brokenIn({})).toEqual({});
});

test('what was not accepted may be emitted or not', () => {
  const refused = [sent(1, { answer: 'reset' }), sent(2, { answer: 'reset' }), sent(3, { to: 'workflow' })];
  expect(brokenIn({ requests: refused, ...inAccount({ sourceEvents: [emitted(1)] }) })).toEqual({});
});

test.each<[string, Partial<Outcome>]>([
  ['source ids accepted and not emitted', inAccount({ sourceEvents: [emitted(1)] })],
  ['events that nobody sent', inAccount({ sourceEvents: [emitted(1), emitted(2), emitted(77)] })],
  ['events that nobody sent', inAccount({ sourceEvents: [emitted(1), emitted(2), emitted(3)] })],
  [
    'runs committed twice',
    inAccount({
      ticks: [tick('a', 1), { ...tick('b', 2), invocationId: 'inv_1' }, { ...tick('c', 3), invocationId: 'inv_1' }],
    }),
  ],
  ['ticks doubled', inAccount({ ticks: [tick('a', 1), tick('b', 1)] })],
  ['events not delivered', inAccount({ plain: delivered([emitted(1), tick('a', 1), tick('b', 2)]) })],
  [
    'messages of no event',
    inAccount({ plain: delivered([emitted(1), emitted(2), tick('a', 1), tick('b', 2), emitted(5)]) }),
  ],
  ['requests accepted without an execution', { executions: [], calls: [] }],
  ['requests with two executions', { executions: [execution(3), execution(3, { id: 'exec_3' })] }],
  [
    'executions that nobody asked for',
    { executions: [execution(3), execution(1, { status: 'succeeded', id: 'exec_3' })] },
  ],
  ['executions not succeeded', { executions: [execution(3, { status: 'failed', error: 'WALL_LIMIT' })] }],
  ['executions succeeded without all steps', { calls: [call(3, FIRST, 100), call(3, LAST, 300)] }],
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
  expect(brokenIn(inAccount({ ticks: [early], plain: delivered([emitted(1), emitted(2)]) }))).toEqual({});
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
    const tenants = [account(), account({ sourceEvents: events, ticks: [] })];
    return brokenIn({ requests: [...outcome().requests, ...ids], tenants });
  };
  expect(repeatAfter(5)).toEqual({ 'ids emitted again while remembered': 1 });
  expect(repeatAfter(99)).toEqual({ 'ids emitted again while remembered': 1 });
  expect(repeatAfter(100)).toEqual({});
});

test('a request that is emitted twice is found, also where dedupe has forgotten its id', () => {
  const requests = Array.from({ length: 101 }, (_, i) => sent(10 + i));
  const events = [...requests, sent(10)].map(({ request }) => emitted(request));
  const tenants = [account(), account({ sourceEvents: events, ticks: [] })];
  expect(brokenIn({ requests: [...outcome().requests, ...requests], tenants })).toEqual({
    'requests emitted twice': 1,
  });
});

test('a step that begins after its successor was seen is a repeated one', () => {
  const calls = [...outcome().calls, call(3, FIRST, 260, 250)];
  expect(brokenIn({ calls })).toEqual({ 'steps repeated after completion': 1 });
});

test('a step that began before its successor was seen is none, however late its request comes', () => {
  expect(brokenIn({ calls: [...outcome().calls, call(3, FIRST, 900, 150)] })).toEqual({});
});

test('a step that runs again before its successor begins is at least once, and none', () => {
  expect(brokenIn({ calls: [...outcome().calls, call(3, FIRST, 150, 149)] })).toEqual({});
});

test('a step that begins after the end of its execution is found', () => {
  const calls = [...outcome().calls, call(3, LAST, 10_002, 10_001)];
  expect(brokenIn({ calls })).toEqual({ 'steps begun after the end of their execution': 1 });
});

test('each event of a request is accounted for', () => {
  const event2 = (request: number, at: number) => event(`e${request}.${at}`, { id: `id-${request}`, request, at });
  const sourceEvents = [event2(1, 0), event2(1, 1), event2(2, 0), event2(2, 1)];
  const both = { emits: 2, ...inAccount({ sourceEvents }) };
  expect(brokenIn(both)).toEqual({});
  expect(brokenIn({ emits: 2, ...inAccount({ sourceEvents: sourceEvents.slice(0, 3) }) })).toEqual({
    'source ids accepted and not emitted': 1,
  });
  expect(brokenIn({ ...both, emits: 1 })).toMatchObject({ 'events that nobody sent': 2 });
});

/** Runs of a source with this dedupe: which turn, and what it emitted. Turn and request are the same. */
function numbersOutcome(
  dedupe: 'greatest' | 'last',
  emits: [request: number, numbers: number[]][],
  accepted: number[],
) {
  const events = emits.flatMap(([request, numbers]) => {
    const invocationId = `inv_${++runs}`;
    return numbers.map((number) => ({
      ...event(`n${++runs}`, { request, turn: request, number }),
      invocationId,
    }));
  });
  const numbers = { greatest: [], last: [], [dedupe]: events };
  const requests = accepted.map((request) => sent(request, { to: dedupe, turn: request }));
  return { requests: [...outcome().requests, ...requests], ...inAccount({ numbers }) };
}

test('greatest: runs emit what is above everything before them, and drop what is not', () => {
  expect(numbersOf('greatest', 11)).toEqual([44, 46, 45]);
  expect(brokenIn(numbersOutcome('greatest', [[11, [44, 46]]], [11]))).toEqual({});
  expect(brokenIn(numbersOutcome('greatest', [[12, [48, 50]]], [11, 12]))).toEqual({});
  const other = { 'dedupe greatest: runs that emitted other ids': 1 };
  expect(brokenIn(numbersOutcome('greatest', [[11, [44, 46, 45]]], [11]))).toEqual(other);
  expect(brokenIn(numbersOutcome('greatest', [[11, [44]]], [11]))).toEqual(other);
  const lost = { 'dedupe greatest: ids dropped without reason': 1 };
  expect(brokenIn(numbersOutcome('greatest', [[11, [44, 46]]], [11, 12]))).toEqual(lost);
});

test('last: runs emit what comes after the last id, or everything, and drop only what ends with it', () => {
  expect(numbersOf('last', 11)).toEqual([21, 22, 23, 24]);
  const inOrder: [number, number[]][] = [
    [11, [21, 22, 23, 24]],
    [12, [25, 26]],
  ];
  expect(brokenIn(numbersOutcome('last', inOrder, [11, 12]))).toEqual({});
  const outOfOrder: [number, number[]][] = [
    [12, [23, 24, 25, 26]],
    [11, [21, 22, 23, 24]],
  ];
  expect(brokenIn(numbersOutcome('last', outOfOrder, [11, 12]))).toEqual({});
  const other = { 'dedupe last: runs that emitted other ids': 1 };
  expect(brokenIn(numbersOutcome('last', [...inOrder.slice(0, 1), [12, [23, 24, 25, 26]]], [11, 12]))).toEqual(other);
  const twice = { 'dedupe last: requests emitted twice': 1 };
  expect(brokenIn(numbersOutcome('last', [...outOfOrder, [12, [25, 26]]], [11, 12]))).toEqual(twice);
  expect(brokenIn(numbersOutcome('last', inOrder, [11, 12, 13]))).toEqual({
    'dedupe last: ids dropped without reason': 1,
  });
});

const NOTES = [11, 12, 13].flatMap(notesOf);
const noteRows = NOTES.map((note: Note) => ({
  ...event(`note${note.request}.${note.at}`, { ...note }),
  channel: note.channel,
}));

/** Three requests of two notes each, at every webhook as it should be, with changes. */
function notesOutcome(hooks: Record<string, Messages> = {}, changes: Partial<TenantOutcome> = {}): Partial<Outcome> {
  const passing = noteRows.filter((_, i) => passesFilter(NOTES[i] as Note));
  const all = {
    fifo: delivered(noteRows),
    'fifo-by-key': delivered(noteRows),
    filtered: delivered(passing),
    switched: delivered(noteRows),
    ...hooks,
  };
  const plain = account().hooks;
  const replays = [
    { id: 'rpl_1', hook: 'replay-1', sinceMs: 1_000, untilMs: 3_000, status: 'done', count: 6, sent: 6 },
  ];
  return {
    requests: [...outcome().requests, ...[11, 12, 13].map((request) => sent(request, { to: 'notes' }))],
    ...inAccount({
      ...account(),
      notes: noteRows,
      replays,
      hooks: new Map([...plain, ['replay-1', delivered(noteRows)], ...Object.entries(all)]),
      ...changes,
    }),
  };
}

const without = (rows: readonly EventRow[], i: number) => delivered(rows.filter((_, at) => at !== i));
/** Those of the default channel on another, which the filter lets pass no more than the default one. */
const onOtherChannel = noteRows.map((row) => (row.channel === '' ? { ...row, channel: 'other' } : row));
/** The first two in the other order. */
const swapped = delivered([noteRows[1], noteRows[0], ...noteRows.slice(2)] as EventRow[]);

test('notes that every webhook got in its way break nothing; two of other keys may change places', () => {
  expect(brokenIn(notesOutcome())).toEqual({});
  const byKey = noteRows.map((row, i) => ({ row, key: NOTES[i]?.key })).toSorted((a, b) => (a.key! < b.key! ? -1 : 1));
  expect(brokenIn(notesOutcome({ 'fifo-by-key': delivered(byKey.map(({ row }) => row)) }))).toEqual({});
});

test.each<[string, Partial<Outcome>]>([
  ['fifo: events not delivered', notesOutcome({ fifo: without(noteRows, 2) })],
  ['fifo: events sent before their turn', notesOutcome({ fifo: swapped })],
  ['fifo by key: events not delivered', notesOutcome({ 'fifo-by-key': without(noteRows, 5) })],
  ['fifo by key: events sent before their turn', notesOutcome({ 'fifo-by-key': swapped })],
  ['filter: events not delivered', notesOutcome({ filtered: new Map() })],
  ['filter: events that do not pass', notesOutcome({ filtered: delivered(noteRows) })],
  ['stopped and started: events not delivered', notesOutcome({ switched: without(noteRows, 0) })],
  ['no dedupe: other events than were sent', notesOutcome({}, { notes: onOtherChannel })],
  ['webhooks of notes: messages of no event', notesOutcome({ switched: delivered([...noteRows, emitted(9)]) })],
])('%s: is found, and nothing else', (name, changes) => {
  expect(Object.keys(brokenIn(changes))).toEqual([name]);
});

test('a replay has every event of its range and no other, as many as it said', () => {
  const broken = (replay: Record<string, unknown>, hooks: Record<string, Messages> = {}) => {
    const all = { id: 'rpl_1', hook: 'replay-1', sinceMs: 1_000, untilMs: 3_000, status: 'done', count: 6, sent: 6 };
    return Object.keys(brokenIn(notesOutcome(hooks, { replays: [{ ...all, ...replay }] })));
  };
  const counted = 'replays: not done, or not as many as counted';
  expect(broken({})).toEqual([]);
  expect(broken({ status: 'running' })).toEqual([counted]);
  expect(broken({ count: 7 })).toEqual([counted]);
  expect(broken({}, { 'replay-1': without(noteRows, 1) })).toEqual([counted, 'replays: events not delivered']);
  expect(broken({ untilMs: 2_000 })).toEqual(['replays: events out of their range']);
});

test('an event without dedupe is emitted once for each accepted request', () => {
  const notes = noteRows.slice(0, 5);
  expect(brokenIn(notesOutcome({}, { notes }))).toMatchObject({ 'no dedupe: accepted and not emitted': 1 });
  const twice = [...noteRows, { ...noteRows[0], messageId: 'evt_again' } as EventRow];
  expect(brokenIn(notesOutcome({}, { notes: twice }))).toMatchObject({ 'no dedupe: emitted twice': 1 });
});

/** An execution that waits as it was asked to, with the runs of a step that are given. */
function waitsOutcome(runsOfAgain: number, waitsMs = waitsMsOf(4)): Partial<Outcome> {
  const steps = WAITING_STEPS.flatMap((step) =>
    Array.from({ length: step === 'again' ? runsOfAgain : 1 }, (_, i) => ({ step, run: i + 1 })),
  );
  // The last run of `again` asks for no wait.
  const waits = (i: number) => (i > runsOfAgain ? i - 1 : i);
  const calls = steps.map(({ step, run }, i) => ({ ...call(4, step, i + waits(i) * waitsMs), run }));
  return {
    requests: [...outcome().requests, sent(4, { to: 'waits' })],
    executions: [execution(3), execution(4)],
    calls: [...outcome().calls, ...calls],
  };
}

test('an execution waits for as long and as often as it asked', () => {
  expect(brokenIn(waitsOutcome(RUNS_OF_AGAIN))).toEqual({});
  expect(Object.keys(brokenIn(waitsOutcome(RUNS_OF_AGAIN, 50)))).toEqual(['waits: cut short']);
  const left = 'waits: steps not run again as often as they asked';
  expect(Object.keys(brokenIn(waitsOutcome(RUNS_OF_AGAIN - 1)))).toEqual([left]);
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
