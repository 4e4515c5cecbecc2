import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import type { NodeProcess } from './node-process.ts';
import type { PostgresServer } from './postgres-server.ts';
import { countDone, countLeft } from './read-outcome.ts';
import type { Timeline } from './timeline.ts';

export interface Drained {
  /** False: something is left that does not move any more, or moves too slowly. */
  ended: boolean;
  tookMs: number;
  left: number;
}

const POLL_MS = 1_000;
/**
 * Nothing has ended for this long: longer than a lease of a dead node, a retry and a wait for a
 * lock.
 */
const NO_PROGRESS_MS = 90_000;
/** On the slowest machine. What moves at all may take this long. */
const MAX_DRAIN_MS = 20 * 60_000;
const TELL_EVERY_MS = 10_000;

/** Waits until nothing that was accepted is left. */
export async function drain(postgres: PostgresServer, timeline: Timeline, signal: AbortSignal): Promise<Drained> {
  const beganAtMs = performance.now();
  const elapsedMs = () => performance.now() - beganAtMs;
  let movedAtMs = beganAtMs;
  let toldAtMs = beganAtMs;
  let last = { left: Infinity, done: -1 };
  while (!signal.aborted && elapsedMs() < MAX_DRAIN_MS && performance.now() - movedAtMs < NO_PROGRESS_MS) {
    // Faults are over, but a recovery may still be under way.
    const now = await postgres.withConnection((sql) => readProgress(sql, last)).catch(() => last);
    if (now.left === 0) return { ended: true, tookMs: elapsedMs(), left: 0 };
    if (now.left < last.left || now.done > last.done) movedAtMs = performance.now();
    last = now;
    if (performance.now() - toldAtMs > TELL_EVERY_MS) {
      toldAtMs = performance.now();
      timeline.add('draining', { ...now });
    }
    await sleep(POLL_MS);
  }
  return { ended: false, tookMs: elapsedMs(), left: last.left };
}

interface Progress {
  left: number;
  done: number;
}

/** Counts ended work only where no less is left than before: that takes longer. */
async function readProgress(sql: Sql, last: Progress): Promise<Progress> {
  const left = await countLeft(sql);
  return { left, done: left < last.left ? last.done : await countDone(sql) };
}

const HEALTHY_TIMEOUT_MS = 180_000;

/** Answers the names of those that do not say that they are well. */
export async function untilHealthy(nodes: readonly NodeProcess[], signal: AbortSignal): Promise<string[]> {
  const deadlineMs = performance.now() + HEALTHY_TIMEOUT_MS;
  for (;;) {
    const healthy = await Promise.all(nodes.map(isHealthy));
    const ill = nodes.filter((_, i) => healthy[i] !== true).map(({ name }) => name);
    if (ill.length === 0 || signal.aborted || performance.now() > deadlineMs) return ill;
    await sleep(POLL_MS);
  }
}

async function isHealthy({ url }: NodeProcess): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(POLL_MS * 5) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    // It does not listen, or stands still.
    return false;
  }
}
