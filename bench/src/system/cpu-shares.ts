import type { ProcessInfo } from './process-tree.ts';

/** CPU time by role, in per cent of one core. */
export type CpuShares = Record<string, number>;

/** What the processes used between two listings that lie `elapsedMs` apart. */
export function cpuShares(before: readonly ProcessInfo[], after: readonly ProcessInfo[], elapsedMs: number): CpuShares {
  const usedBefore = new Map(before.map((info) => [`${info.pid} ${info.startTicks}`, info.cpuMs]));
  const shares: CpuShares = {};
  for (const info of after) {
    const usedMs = info.cpuMs - (usedBefore.get(`${info.pid} ${info.startTicks}`) ?? 0);
    const role = roleOf(info);
    shares[role] = (shares[role] ?? 0) + (usedMs / elapsedMs) * 100;
  }
  return Object.fromEntries(Object.entries(shares).map(([role, share]) => [role, Math.round(share)]));
}

const ROLES: readonly (readonly [RegExp, string])[] = [
  [/postgres/, 'postgres'],
  [/receiver-main\.ts/, 'receiver'],
  [/bench\/src\/main\.ts/, 'driver'],
  [/api\/src\/main\.ts/, 'api + engine'],
  [/npm/, 'npm'],
];

function roleOf(info: ProcessInfo): string {
  return ROLES.find(([pattern]) => pattern.test(info.command))?.[1] ?? 'sandbox';
}
