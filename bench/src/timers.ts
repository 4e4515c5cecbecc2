import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchArguments } from './arguments.ts';
import { createLatencies, type LatencySummary } from './load/latencies.ts';
import { describeMachine } from './machine.ts';
import { type ApiClient, createApiClient } from './system/api-client.ts';
import { bootSystem, type System } from './system/boot-system.ts';
import { type CpuTimes, cpuTimes } from './system/cpu-times.ts';
import { formatCount, formatCpu, formatLatency, formatMachine, line } from './text.ts';
import type { Undo } from './undo.ts';

/**
 * Component with `timers` timers. Their expressions differ, so a tick is recognised by its
 * expression.
 */
const timedSource = (timers: number) => `export default {
  name: 'Bench timer',
  version: '0.0.1',
  props: { ${timerNames(timers)
    .map((name) => `${name}: '$.interface.timer'`)
    .join(', ')} },
  run(event) {
    this.$emit({ cron: event.cron, startedAtMs: Date.now() });
  },
};
`;

const timerNames = (count: number) => Array.from({ length: count }, (_, i) => `timer${i}`);

interface Tick {
  cron: string;
  dueAtMs: number;
}

interface TimedSource {
  api: ApiClient;
  sourceId: string;
  ticks: readonly Tick[];
}

interface TimersResult {
  name: string;
  timers: number;
  sources: number;
  /** From when a tick was due to the first line of its run. */
  lag: LatencySummary;
  /** Timers that did not tick, or more than once. */
  wrong: number;
  cpu: CpuTimes;
}

/** Accounts that the sources belong to. */
const TENANTS = 10;
/**
 * Deployments at the same time, and how many timers a second are counted on when the time is
 * chosen.
 */
const PARALLEL = 32;
const SLOWEST_PER_SECOND = 150;
const LEAD_MS = 10_000;
/** How long ticks that are late are waited for. */
const PATIENCE_MS = 60_000;
/** Number of different spellings of a cron expression: each timer of a source needs its own. */
const MAX_TIMERS_PER_SOURCE = 1_000;
const MARKS_PER_FIELD = 40;

/**
 * Timers that are due within one minute, as many each second, and then a tenth of them that are all
 * due in one second. A run says when it started. Answers false when a timer did not tick exactly
 * once.
 */
export async function benchTimers(undo: Undo, options: BenchArguments): Promise<boolean> {
  const timersEach = Math.ceil(options.timers / options.sources);
  if (timersEach > MAX_TIMERS_PER_SOURCE) {
    throw new Error(`--timers are at most ${MAX_TIMERS_PER_SOURCE} times --sources`);
  }
  const system = await bootSystem(undo);
  const tenants = await createTenants(system, timedSource(timersEach));
  const measure = (name: string, sources: number, seconds: number) =>
    measureTimers({ system, tenants }, { name, sources, timersEach, seconds });
  const results = [
    await measure('one minute', options.sources, 60),
    await measure('one second', Math.max(1, Math.round(options.sources / 10)), 1),
  ];
  const machine = describeMachine();
  if (options.json) console.log(JSON.stringify({ machine, options, results }, undefined, 2));
  else {
    console.log(formatMachine(machine));
    for (const result of results) console.log(formatResult(result));
  }
  return results.every((result) => result.wrong === 0);
}

/** An account with the component saved in it. */
interface Tenant {
  api: ApiClient;
  componentId: string;
}

async function createTenants(system: System, code: string): Promise<Tenant[]> {
  const operator = createApiClient(system, system.adminKey);
  return inParallel(TENANTS, async (i) => {
    const api = createApiClient(system, await operator.createAccount(`Bench ${i}`));
    return { api, componentId: await api.saveComponent(code) };
  });
}

interface Plan {
  name: string;
  sources: number;
  timersEach: number;
  /** Ticks are due in this many consecutive seconds. */
  seconds: number;
}

async function measureTimers(
  { system, tenants }: { system: System; tenants: readonly Tenant[] },
  { name, sources: count, timersEach, seconds }: Plan,
): Promise<TimersResult> {
  const timers = count * timersEach;
  const startMs = Math.ceil((Date.now() + LEAD_MS + (timers / SLOWEST_PER_SECOND) * 1_000) / 1_000) * 1_000;
  const sources = await inParallel(count, async (i): Promise<TimedSource> => {
    const ticks = timerNames(timersEach).map((_, n) => tickAt(startMs + ((i * timersEach + n) % seconds) * 1_000, n));
    const props = Object.fromEntries(ticks.map(({ cron }, n) => [`timer${n}`, { cron }]));
    const { api, componentId } = tenants[i % tenants.length] as Tenant;
    return { api, sourceId: await api.deploySaved(componentId, props), ticks };
  });
  const aheadMs = startMs - Date.now();
  if (aheadMs < 0) throw new Error(`${count} sources were not deployed in time: ${-aheadMs} ms too late`);
  await sleep(aheadMs);
  const before = system.processes();
  await sleep(seconds * 1_000);
  await untilIdle(createApiClient(system));
  const cpu = cpuTimes(before, system.processes());
  return { name, timers, sources: count, cpu, ...(await lagsOf(sources)) };
}

/**
 * An expression that matches that second, and no other for a year; `mark` makes it another one
 * without a difference.
 */
function tickAt(dueAtMs: number, mark: number): Tick {
  const at = new Date(dueAtMs);
  const weekdays = `0-6${',0'.repeat(mark % MARKS_PER_FIELD)}`;
  const months = `${at.getUTCMonth() + 1}${`,${at.getUTCMonth() + 1}`.repeat(Math.floor(mark / MARKS_PER_FIELD))}`;
  const time = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()}`;
  return { dueAtMs, cron: `${time} ${at.getUTCDate()} ${months} ${weekdays}` };
}

async function untilIdle(api: ApiClient): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  const isBusy = async () => {
    const states = ['waiting', 'in_flight', 'committing'].map((state) => api.metric(`headwater_runs_${state}`));
    return (await Promise.all(states)).some((runs) => (runs ?? 0) > 0);
  };
  // Twice: a tick may be on its way from the database to the node.
  for (let idle = 0; idle < 2 && Date.now() < deadlineMs; ) {
    await sleep(1_000);
    idle = (await isBusy()) ? 0 : idle + 1;
  }
}

async function lagsOf(sources: readonly TimedSource[]): Promise<Pick<TimersResult, 'lag' | 'wrong'>> {
  const lags = createLatencies();
  let wrong = 0;
  await inParallel(sources.length, async (i) => {
    const { api, sourceId, ticks } = sources[i] as TimedSource;
    const events = (await api.events(sourceId)) as { cron: string; startedAtMs: number }[];
    for (const { cron, dueAtMs } of ticks) {
      const runs = events.filter((event) => event.cron === cron);
      if (runs.length !== 1) wrong++;
      for (const { startedAtMs } of runs) lags.record(startedAtMs - dueAtMs);
    }
  });
  return { lag: lags.summary(), wrong };
}

/** Calls `work(0)` to `work(count - 1)`, several at a time. Returns the results in order. */
async function inParallel<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      answers[i] = await work(i);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return answers;
}

function formatResult({ name, timers, sources, lag, wrong, cpu }: TimersResult): string {
  return [
    `timers: ${formatCount(timers)} of ${formatCount(sources)} sources, due within ${name}`,
    line('due to run', formatLatency(lag)),
    line('not ticked exactly once', formatCount(wrong)),
    line('CPU, µs a tick', formatCpu(cpu, timers)),
  ].join('\n');
}
