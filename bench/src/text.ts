import type { LatencySummary } from './load/latencies.ts';
import type { Machine } from './machine.ts';
import type { ProfileSummary } from './profile/summarize-profile.ts';
import type { CpuTimes } from './system/cpu-times.ts';

const LABEL_CHARS = 26;
const TOP_FUNCTIONS = 30;
const TOP_PLACES = 20;

/** `20 000`: a narrow no-break space reads well and splits nowhere. */
export function formatCount(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(1);
}

export function formatLatency({ p50Ms, p99Ms, maxMs }: LatencySummary): string {
  return `p50 ${formatMs(p50Ms)} ms, p99 ${formatMs(p99Ms)} ms, max ${formatMs(maxMs)} ms`;
}

/** Microseconds of CPU time for each of `count`, by role and in all. */
export function formatCpu(cpu: CpuTimes, count: number): string {
  const each = (ms: number) => formatCount((ms / count) * 1_000);
  const used = Object.entries(cpu).filter(([, ms]) => ms > 0);
  const sum = used.reduce((total, [, ms]) => total + ms, 0);
  return `${each(sum)}: ${used.map(([role, ms]) => `${role} ${each(ms)}`).join(', ')}`;
}

export function line(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_CHARS)}${text}`;
}

export function formatMachine(machine: Machine): string {
  const { date, cores, cpu, memoryGb, system, node } = machine;
  return `${date} · ${cores} × ${cpu}, ${memoryGb} GB · ${system} · Node ${node}`;
}

export function formatProfile({ busyMs, functions, places }: ProfileSummary): string {
  const entry = ({ name, selfMs, share }: ProfileSummary['functions'][number]) =>
    `  ${(share * 100).toFixed(1).padStart(5)} % ${String(selfMs).padStart(7)} ms  ${name}`;
  return [
    `profile of the server's main thread: ${formatCount(busyMs)} ms busy`,
    'by package or file of ours, with what Node did for it',
    ...places.slice(0, TOP_PLACES).map(entry),
    'by function, itself alone',
    ...functions.slice(0, TOP_FUNCTIONS).map(entry),
  ].join('\n');
}
