import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ComponentIsolate } from '../../sandbox-runtime/src/worker/component-isolate.ts';
import { CpuClock } from '../../sandbox-runtime/src/worker/cpu-clock.ts';
import { blameForTimeout } from '../../sandbox-runtime/src/worker/blame-for-timeout.ts';
import type { ProcessRun } from '../../sandbox-runtime/src/worker/process-run.ts';
import { watchIsolates } from '../../sandbox-runtime/src/worker/watch-isolates.ts';

const POLL_MS = 50;

/** CPU time that the process is said to have used. */
let usedMs = 0;

beforeEach(() => {
  vi.useFakeTimers();
  usedMs = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

class FakeClock extends CpuClock {
  #lastNs = 0;
  override get lastNs(): number {
    return this.#lastNs;
  }
  override readNs(): number {
    this.#lastNs = usedMs * 1e6;
    return this.#lastNs;
  }
}

/** An isolate with two runs, of which the first one's call is the oldest. */
function watched() {
  const limits = { wallMs: 30_000, cpuMs: 10_000 };
  const made = () => ({
    limits,
    starvedMs: 0,
    blockedMs: 0,
    isReading: false,
    over: false,
    cpuNs: 0,
    wallMs: () => 0,
    boundCpuNs: () => 0,
  });
  const [first, second] = [made(), made()];
  const state = { call: undefined as { owner: typeof first } | undefined };
  const guest = {
    openCalls: 1,
    endedByItself: false,
    executing: () => state.call,
    oldestCall: () => state.call && { owner: state.call.owner, cpuNs: 0 },
  };
  const isolate = { guest, runs: new Map([first, second].entries()), dead: false, loaded: false, seenCall: undefined };
  const unasked = () => {
    throw new Error('No limit is exceeded');
  };
  const handlers = { overCpu: unasked, overWall: unasked, outOfMemory: unasked, stuck: unasked, idle: () => undefined };
  watchIsolates(() => [isolate as unknown as ComponentIsolate], new FakeClock(), handlers).wake();
  return { first, second, state };
}

function pass(ms: number, cpuPart: number): void {
  for (let at = 0; at < ms; at += POLL_MS) {
    usedMs += POLL_MS * cpuPart;
    vi.advanceTimersByTime(POLL_MS);
  }
}

test('runs whose isolate is to execute, in a process that gets no processor, are starved', () => {
  const { first, second, state } = watched();
  state.call = { owner: first };
  pass(1_000, 0.02);
  // The first look only finds the call.
  expect(first.starvedMs).toBeCloseTo(0.98 * 950, 0);
  expect(second.starvedMs).toBe(first.starvedMs);
});

test('runs of a process that computes, waits for a read or is called anew each time are not', () => {
  const computing = watched();
  computing.state.call = { owner: computing.first };
  pass(1_000, 0.6);
  expect(computing.first.starvedMs).toBe(0);
  // The second's handle may be what the first one's call reads with.
  for (const run of [computing.first, computing.second]) {
    run.isReading = true;
    pass(1_000, 0);
    expect(computing.first.starvedMs).toBe(0);
    run.isReading = false;
  }
  for (let turn = 0; turn < 20; turn++) {
    computing.state.call = { owner: computing.first };
    pass(POLL_MS, 0);
  }
  expect(computing.first.starvedMs).toBe(0);
});

/** The blame for the timeout of a run of 30 s that was starved and kept waiting for so long. */
function blameOf({ starvedMs = 0, blockedMs = 0, isOldest = false, computedMs = 0, others = 0 }) {
  const run = {
    limits: { wallMs: 30_000, wallLimit: 'httpRunWallMs' as const },
    starvedMs,
    blockedMs,
    wallMs: () => 30_050,
    processNs: () => computedMs * 1e6,
  };
  const call = isOldest ? { owner: run, cpuNs: computedMs * 1e6 } : undefined;
  const runs = new Map(Array.from({ length: 1 + others }, (_, n) => [n, run]));
  const isolate = { guest: { oldestCall: () => call, executing: () => call }, runs };
  const { fault, blame } = blameForTimeout(isolate as unknown as ComponentIsolate, run as unknown as ProcessRun);
  return [blame, fault.limit?.used];
}

test('a late run is to blame unless it was kept from a processor, or from its isolate', () => {
  expect(blameOf({})).toEqual(['run', 30_050]);
  expect(blameOf({ starvedMs: 7_000 })).toEqual(['run', 30_050]);
  expect(blameOf({ starvedMs: 8_000 })).toEqual(['nobody', 30_050]);
  expect(blameOf({ starvedMs: 29_000, isOldest: true, computedMs: 900, others: 3 })).toEqual(['nobody', 30_050]);
  expect(blameOf({ blockedMs: 8_000 })).toEqual(['nobody', undefined]);
});

test('a loop that had a second of processor time is to blame on however busy a machine', () => {
  const loop = { starvedMs: 29_000, isOldest: true, computedMs: 1_100 };
  expect(blameOf(loop)).toEqual(['run', 30_050]);
  expect(blameOf({ ...loop, others: 3 })).toEqual(['isolate', 30_050]);
});
