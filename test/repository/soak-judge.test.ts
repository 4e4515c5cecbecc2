import { expect, test } from 'vitest';
import { readArguments } from '../soak/arguments.ts';
import { STEPS } from '../soak/components.ts';
import { judge } from '../soak/judge.ts';
import { planFaults } from '../soak/plan-faults.ts';
import { createRandom } from '../soak/random.ts';
import type { Outcome } from '../soak/records.ts';
import { formatReport, isClean } from '../soak/report.ts';
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
  tick,
} from '../support/soak-outcome.ts';

const [FIRST, , LAST] = STEPS;

test('a run in which everything arrived once breaks nothing', () => {
  expect(brokenIn({})).toEqual({});
});

test('a refused request may be emitted or not', () => {
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

test('an event emitted before the subscription need not be delivered', () => {
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
