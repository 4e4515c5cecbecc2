import type { Random } from './random.ts';

type FaultKind =
  | 'kill-api'
  | 'kill-engine'
  | 'kill-nodes'
  | 'kill-sandbox'
  | 'freeze-api'
  | 'freeze-engine'
  | 'stop-api'
  | 'stop-engine'
  | 'terminate-backend'
  | 'kill-backend'
  | 'kill-postgres';

export interface PlannedFault {
  kind: FaultKind;
  /** After the begin of the load. */
  atMs: number;
  /** From 0 to below 1: which of those that can be hit. */
  choice: number;
  /** How long a frozen node stands still, or Postgres is away. */
  lastsMs: number;
}

/**
 * Dealt like cards, and shuffled anew when all were dealt: so two minutes see every kind, and
 * Postgres dies about once a minute. Odd and even rounds differ in which role is frozen or stopped.
 */
const ROUNDS: readonly (readonly FaultKind[])[] = [
  ['kill-api', 'kill-engine', 'kill-sandbox', 'freeze-api', 'stop-engine', 'terminate-backend', 'kill-postgres'],
  ['kill-nodes', 'kill-engine', 'kill-sandbox', 'freeze-engine', 'stop-api', 'terminate-backend', 'kill-backend'],
];

const FIRST_AFTER_MS = 3_000;
const MIN_PAUSE_MS = 3_000;
const MAX_PAUSE_MS = 8_000;
const FREEZE_MS = 15_000;
const MAX_POSTGRES_DOWN_MS = 6_000;

/** The same faults for the same random numbers. None begins in the last `MAX_PAUSE_MS`. */
export function planFaults(random: Random, durationMs: number): PlannedFault[] {
  const faults: PlannedFault[] = [];
  let atMs = FIRST_AFTER_MS;
  for (let round = 0; ; round++) {
    for (const kind of random.shuffle(ROUNDS[round % ROUNDS.length] as readonly FaultKind[])) {
      atMs += random.between(MIN_PAUSE_MS, MAX_PAUSE_MS);
      if (atMs > durationMs - MAX_PAUSE_MS / 2) return faults;
      const outageMs = random.between(0, MAX_POSTGRES_DOWN_MS);
      const lastsMs = kind.startsWith('freeze') ? FREEZE_MS : outageMs;
      faults.push({ kind, atMs, choice: random.next(), lastsMs });
    }
  }
}
