import type { ProcessInfo } from './process-tree.ts';

/** CPU time by role, in milliseconds. */
export type CpuTimes = Record<string, number>;

/**
 * CPU time used between two listings. Unlike wall time, it hardly depends on other load. A process
 * that has ended in between is in the time of its parent since, with all that it ever used.
 */
export function cpuTimes(before: readonly ProcessInfo[], after: readonly ProcessInfo[]): CpuTimes {
  const times: CpuTimes = {};
  for (const info of after) times[roleOf(info)] = (times[roleOf(info)] ?? 0) + info.cpuMs;
  for (const info of before) times[roleOf(info)] = (times[roleOf(info)] ?? 0) - info.cpuMs;
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
  [/node-red/, 'Node-RED'],
  [/restate-server/, 'restate-server'],
  [/npm/, 'npm'],
];

function roleOf(info: ProcessInfo): string {
  return ROLES.find(([pattern]) => pattern.test(info.command))?.[1] ?? 'sandbox';
}
