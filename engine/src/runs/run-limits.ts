import type { RunLimits } from '@headwater/sandbox-runtime';
import type { AccountLimits } from '@headwater/shared';
import type { InvocationKind } from '../events/index.ts';

const WALL_LIMIT = {
  http: 'httpRunWallMs',
  timer: 'timerRunWallMs',
  manual: 'timerRunWallMs',
  event: 'timerRunWallMs',
  hook: 'hookWallMs',
} as const satisfies Record<InvocationKind | 'hook', RunLimits['wallLimit']>;

/** The name of the wall time limit for this kind of run. */
export function wallLimitOf<K extends InvocationKind | 'hook'>(kind: K): (typeof WALL_LIMIT)[K] {
  return WALL_LIMIT[kind];
}

/** Limits of one run of a kind. A run keeps the limits it was started with. */
export function runLimits(kind: InvocationKind | 'hook', account: AccountLimits): RunLimits {
  const wallLimit = wallLimitOf(kind);
  return { cpuMs: account.runCpuMs, wallMs: account[wallLimit], wallLimit, memoryMb: account.memoryMb, account };
}
