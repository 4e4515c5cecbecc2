import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ComponentIsolate } from '../../sandbox-runtime/src/worker/component-isolate.ts';
import { CpuClock } from '../../sandbox-runtime/src/worker/cpu-clock.ts';
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
  computing.first.isReading = true;
  pass(1_000, 0);
  expect(computing.first.starvedMs).toBe(0);
  computing.first.isReading = false;
  for (let turn = 0; turn < 20; turn++) {
    computing.state.call = { owner: computing.first };
    pass(POLL_MS, 0);
  }
  expect(computing.first.starvedMs).toBe(0);
});
