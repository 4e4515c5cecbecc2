import type { ComponentIsolate } from './component-isolate.ts';
import type { CpuClock } from './cpu-clock.ts';
import type { ProcessRun } from './process-run.ts';

const POLL_MS = 50;
/** CPU time that a call of an already ended run may still take. */
const ENDED_CALL_NS = 250e6;
const HEAP_CHECK_MS = 2_000;
/** A call with this much CPU time is computing. */
const COMPUTING_NS = 20e6;
/** Between two looks, where this thread was held up. */
const MAX_COUNTED_MS = 1_000;
/** A process that stands still for longer is held up. */
const STALL_MS = 1_000;
/** A process that uses less than this part of the time has to wait for a processor. */
const STARVED_PART = 1 / 4;

export interface WatchHandlers {
  overCpu(isolate: ComponentIsolate, run: ProcessRun): void;
  overWall(isolate: ComponentIsolate, run: ProcessRun): void;
  /** V8 has ended the isolate, and what runs in it may go on all the same. */
  outOfMemory(isolate: ComponentIsolate): void;
  /** The isolate still executes code of a run that is over. */
  stuck(isolate: ComponentIsolate): void;
  /** Called now and then, after the heap figures of the isolates were updated. */
  idle(): void;
}

/**
 * Checks every isolate 20 times a second while code runs in one. Isolates have their own threads,
 * so they cannot block this timer.
 */
export function watchIsolates(
  isolates: () => ComponentIsolate[],
  clock: CpuClock,
  handlers: WatchHandlers,
): { wake(): void } {
  let timer: NodeJS.Timeout | undefined;
  let heapCheckedAtMs = 0;
  let polledAtMs = 0;
  const poll = (): void => {
    let busy = false;
    const beforeNs = clock.lastNs;
    const usedMs = (clock.readNs() - beforeNs) / 1e6;
    const nowMs = performance.now();
    const elapsedMs = nowMs - polledAtMs;
    polledAtMs = nowMs;
    for (const isolate of isolates()) {
      countBlocked(isolate, Math.min(elapsedMs, MAX_COUNTED_MS));
      countStarved(isolate, elapsedMs, usedMs);
      checkClock(isolate, handlers);
      for (const run of isolate.runs.values()) if (run.wallMs() > run.limits.wallMs) handlers.overWall(isolate, run);
      busy ||= isolate.runs.size > 0 || (isolate.guest.openCalls > 0 && !isolate.dead);
    }
    if (performance.now() - heapCheckedAtMs > HEAP_CHECK_MS) {
      heapCheckedAtMs = performance.now();
      void measureHeaps(isolates()).then(handlers.idle);
    }
    if (busy) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    wake() {
      if (timer !== undefined) return;
      clock.readNs();
      polledAtMs = performance.now();
      timer = setInterval(poll, POLL_MS);
    },
  };
}

/** While one run computes, the others of its isolate have no time at all. */
function countBlocked(isolate: ComponentIsolate, sinceMs: number): void {
  if (isolate.runs.size < 2) return;
  const oldest = isolate.guest.oldestCall();
  if (oldest === undefined || oldest.cpuNs < COMPUTING_NS) return;
  for (const run of isolate.runs.values()) if (run !== oldest.owner) run.blockedMs += sinceMs;
}

/**
 * Counts time in which the code of an isolate waits for a processor, or the whole process stands
 * still, as on an overloaded machine. A read is waited for without a processor.
 */
function countStarved(isolate: ComponentIsolate, elapsedMs: number, usedMs: number): void {
  const call = isolate.guest.executing();
  const isSeenAgain = call !== undefined && call === isolate.seenCall;
  isolate.seenCall = call;
  if (usedMs > elapsedMs * STARVED_PART || !(isSeenAgain || elapsedMs > STALL_MS)) return;
  const runs = [...isolate.runs.values()];
  // The handle of a read may be another run's than that whose call waits for it.
  if (elapsedMs <= STALL_MS && runs.some((run) => run.isReading)) return;
  for (const run of runs) run.starvedMs += elapsedMs - usedMs;
}

function checkClock(isolate: ComponentIsolate, handlers: WatchHandlers): void {
  const oldest = isolate.guest.oldestCall();
  if (oldest === undefined || isolate.dead) return;
  // Some loops do not notice that they were ended: they would go on without a clock, and fill the
  // process by a gigabyte a second.
  if (isolate.guest.endedByItself) return handlers.outOfMemory(isolate);
  const { owner, cpuNs } = oldest;
  const isOver = owner.boundCpuNs(owner.cpuNs + cpuNs) > owner.limits.cpuMs * 1e6;
  // Timers of a run that has ended go on while another one keeps the isolate, as many as it may
  // have open.
  if (owner.over && (isOver || cpuNs > ENDED_CALL_NS)) handlers.stuck(isolate);
  else if (!owner.over && isOver) handlers.overCpu(isolate, owner);
}

async function measureHeaps(isolates: ComponentIsolate[]): Promise<void> {
  for (const isolate of isolates) {
    if (isolate.dead || !isolate.loaded || isolate.runs.size > 0) continue;
    try {
      isolate.heapBytes = await isolate.guest.usedHeapBytes();
    } catch {
      // It was ended meanwhile: there is nothing to measure.
    }
  }
}
