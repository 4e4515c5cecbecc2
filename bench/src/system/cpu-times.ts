import type { ProcessInfo } from './process-tree.ts';

/** CPU time by role, in milliseconds. */
export type CpuTimes = Record<string, number>;

/** CPU time used between two listings. Unlike wall time, it hardly depends on other load. */
export function cpuTimes(before: readonly ProcessInfo[], after: readonly ProcessInfo[]): CpuTimes {
  const usedBefore = new Map(before.map((info) => [`${info.pid} ${info.startTicks}`, info.cpuMs]));
  const times: CpuTimes = {};
  for (const info of after) {
    const usedMs = info.cpuMs - (usedBefore.get(`${info.pid} ${info.startTicks}`) ?? 0);
    const role = roleOf(info);
    times[role] = (times[role] ?? 0) + usedMs;
  }
  return times;
}

const ROLES: readonly (readonly [RegExp, string])[] = [
  [/(?:dbos|restate-service)-main\.ts/, 'service'],
  [/postgres/, 'postgres'],
  [/receiver-main\.ts/, 'receiver'],
  [/bench\/src\/main\.ts/, 'driver'],
  [/api\/src\/main\.ts/, 'api + engine'],
  [/\/workerd /, 'workerd'],
  [/hono-echo-main\.ts/, 'echo'],
  [/restate-server/, 'restate-server'],
  [/npm/, 'npm'],
];

function roleOf(info: ProcessInfo): string {
  return ROLES.find(([pattern]) => pattern.test(info.command))?.[1] ?? 'sandbox';
}
