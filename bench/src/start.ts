import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchArguments } from './arguments.ts';
import { EMITTING_SOURCE } from './event-source.ts';
import { describeMachine } from './machine.ts';
import { type ApiClient, createApiClient } from './system/api-client.ts';
import { bootSystem, type System } from './system/boot-system.ts';
import { memoryOf } from './system/process-tree.ts';
import { formatCount, formatMachine, line } from './text.ts';
import type { Undo } from './undo.ts';

const LATER_STARTS = 5;
const TENANTS = 8;
const EVENTS_A_TENANT = 5;
/** Until memory that a start and the first runs took has been given back. */
const SETTLE_MS = 5_000;

interface Start {
  /** Until `/healthz` answers 200. */
  ms: number;
  /** CPU time of all processes until then. */
  cpuMs: number;
}

interface Memory {
  /** Proportional set sizes: what several processes share counts once. */
  nodeBytes: number;
  postgresBytes: number;
  starterBytes: number;
  /** Mean of the tenants' processes; `tenantOwnBytes` leaves out shared pages. */
  tenantBytes: number;
  tenantOwnBytes: number;
}

/**
 * Starts of the whole system as a user has them: the first one on a machine, with no database and
 * nothing compiled, and later ones. Then its memory, with some tenants that have run something.
 * Linux only.
 */
export async function benchStart(undo: Undo, { quick, json }: BenchArguments): Promise<boolean> {
  const dir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-start-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const options = { dataDir: path.join(dir, 'data'), cacheDir: path.join(dir, 'cache') };
  const starts: Start[] = [];
  let memory: Memory | undefined;
  const count = quick ? 1 : LATER_STARTS;
  for (let i = 0; i <= count; i++) {
    const startMs = performance.now();
    const system = await bootSystem(undo, options);
    starts.push({ ms: performance.now() - startMs, cpuMs: sum(system.processes(), ({ cpuMs }) => cpuMs) });
    if (i === count) memory = await measureMemory(system, quick ? 1 : TENANTS);
    await system.stop();
  }
  const [first, ...later] = starts as [Start, ...Start[]];
  const machine = describeMachine();
  if (json) console.log(JSON.stringify({ machine, first, later, memory }, undefined, 2));
  else
    console.log([formatMachine(machine), ...formatStarts(first, later), ...formatMemory(memory as Memory)].join('\n'));
  return true;
}

async function measureMemory(system: System, tenants: number): Promise<Memory> {
  const operator = createApiClient(system, system.adminKey);
  for (let i = 0; i < tenants; i++) {
    const api = createApiClient(system, await operator.createAccount(`Bench ${i}`));
    await runSome(api);
  }
  await sleep(SETTLE_MS);
  const processes = system.processes();
  const memoryOfAll = (title: RegExp) =>
    processes.filter(({ command }) => title.test(command)).map(({ pid }) => memoryOf(pid));
  // Those with a tenant have code of theirs; a blank one waits for the next tenant.
  const sandboxes = memoryOfAll(/hw-sandbox/)
    .toSorted((a, b) => b.ownBytes - a.ownBytes)
    .slice(0, tenants);
  return {
    nodeBytes: sum(memoryOfAll(/api\/src\/main\.ts/), ({ bytes }) => bytes),
    postgresBytes: sum(memoryOfAll(/postgres/), ({ bytes }) => bytes),
    starterBytes: sum(memoryOfAll(/hw-starter/), ({ bytes }) => bytes),
    tenantBytes: sum(sandboxes, ({ bytes }) => bytes) / tenants,
    tenantOwnBytes: sum(sandboxes, ({ ownBytes }) => ownBytes) / tenants,
  };
}

async function runSome(api: ApiClient): Promise<void> {
  const { id, endpointUrl } = await api.deploySource(EMITTING_SOURCE);
  for (let i = 0; i < EVENTS_A_TENANT; i++) {
    const body = JSON.stringify({ id: `event ${i}` });
    await fetch(endpointUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
  while ((await api.events(id)).length < EVENTS_A_TENANT) await sleep(20);
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function formatStarts(first: Start, later: readonly Start[]): string[] {
  const format = ({ ms, cpuMs }: Start) => `${formatCount(ms)} ms (CPU ${formatCount(cpuMs)} ms)`;
  const sorted = later.toSorted((a, b) => a.ms - b.ms);
  const middle = sorted[Math.floor(sorted.length / 2)] as Start;
  const range = sorted.map(({ ms }) => formatCount(ms)).join(', ');
  return [line('first start', format(first)), line('later start', `${format(middle)}; all: ${range}`)];
}

function formatMemory(memory: Memory): string[] {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  return [
    line('memory of the node', mb(memory.nodeBytes)),
    line('of Postgres', mb(memory.postgresBytes)),
    line('of the starter', mb(memory.starterBytes)),
    line("of a tenant's process", `${mb(memory.tenantBytes)}, ${mb(memory.tenantOwnBytes)} of it its own`),
  ];
}
