import { expect, test } from 'vitest';
import { RUNS_OF_AGAIN, WAITING_STEPS } from '../soak/components.ts';
import { type Note, notesOf, numbersOf, passesFilter, waitsMsOf } from '../soak/expected.ts';
import type { EventRow, Messages, Outcome, TenantOutcome } from '../soak/records.ts';
import {
  account,
  brokenIn,
  call,
  delivered,
  emitted,
  event,
  execution,
  inAccount,
  outcome,
  sent,
} from '../support/soak-outcome.ts';

/** Runs of a source with this dedupe, each with what it emitted. Turn and request are the same. */
function numbersOutcome(
  dedupe: 'greatest' | 'last',
  emits: [request: number, numbers: number[]][],
  accepted: number[],
) {
  const events = emits.flatMap(([request, numbers]) => {
    const invocationId = `inv_of_${request}`;
    const rows = numbers.map((number) => event(`n${number}`, { request, turn: request, number }));
    return rows.map((row) => ({ ...row, invocationId }));
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
/** The filter lets neither this channel pass nor the default one that the notes are on. */
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

test('a source that answers itself: a run for each answer, also for a 202, and no answer of another', () => {
  const asked = (request: number, detail: string) => sent(request, { to: 'asked', detail });
  const judged = (requests: readonly ReturnType<typeof sent>[], ran: readonly number[]) =>
    brokenIn({
      requests: [...outcome().requests, ...requests],
      ...inAccount({ asked: ran.map((request) => event(`a${request}`, { request })) }),
    });
  const requests = [
    asked(11, '201 11'),
    asked(12, '202 {"status":"accepted"}'),
    sent(13, { to: 'asked', answer: 'reset' }),
  ];
  expect(judged(requests, [12, 11])).toEqual({});
  expect(judged(requests, [11, 12, 13])).toEqual({});
  expect(judged(requests, [12])).toEqual({ 'own answers: their run is missing': 1 });
  expect(judged(requests, [11])).toEqual({ 'own answers: 202, and the run never came': 1 });
  expect(judged(requests, [11, 12, 12])).toEqual({ 'own answers: requests emitted twice': 1 });
  expect(judged(requests, [11, 12, 14])).toEqual({ 'own answers: events that nobody asked for': 1 });
  expect(judged([asked(11, '201 12')], [11])).toEqual({ 'own answers: of another request': 1 });
});
