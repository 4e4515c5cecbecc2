import type { BenchArguments } from './arguments.ts';
import { createLatencies, type LatencySummary } from './load/latencies.ts';
import { type LoadResult, runLoad } from './load/load-phase.ts';
import type { RequestTemplate } from './load/request-bytes.ts';
import { eventId } from './receiver/messages.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { System } from './system/boot-system.ts';
import { type CpuTimes, cpuTimes } from './system/cpu-times.ts';
import { readProcess } from './system/process-tree.ts';

export interface PhasePlan {
  /** One letter, unique: it marks the phase's events. */
  mark: string;
  name: string;
  events: number;
  ratePerSecond?: number;
}

export interface PhaseResult {
  plan: PhasePlan;
  sent: number;
  /** From the first request to the last receipt. */
  elapsedMs: number;
  eventsPerSecond: number;
  /** Answers a second, until the last answer. */
  requestsPerSecond: number;
  /** From the request (open loop: from when it was due) to its answer. */
  answers: LatencySummary;
  /** From the same moment to the arrival of its event at the receiver. */
  receipts: LatencySummary;
  cpu: CpuTimes;
  /** Faults in words; empty if each event arrived once. */
  faults: string[];
}

export interface PhaseParts {
  system: System;
  receiver: Receiver;
  /** One for each account: request i goes to account `i % templates.length`. */
  templates: readonly RequestTemplate[];
  options: BenchArguments;
}

/**
 * An event that has not come this long after the one before it is lost, as far as the bench is
 * concerned.
 */
const STALL_MS = 15_000;

/** Sends the events of a phase, waits until the last has arrived, and says how long each took. */
export async function runPhase(parts: PhaseParts, plan: PhasePlan): Promise<PhaseResult> {
  const { system, receiver, templates, options } = parts;
  const templateOf = (index: number) => templates[index % templates.length] as RequestTemplate;
  receiver.begin(plan.mark, plan.events);
  const listAll = () =>
    [...system.processes(), readProcess(receiver.pid), readProcess(process.pid)].filter((info) => info !== undefined);
  const before = listAll();
  const load = await runLoad({
    target: templateOf(0).target,
    connections: options.connections,
    requests: plan.events,
    maxMs: options.maxPhaseMs,
    request: (index) => templateOf(index).request(eventId(plan.mark, index)),
    ...(plan.ratePerSecond === undefined ? {} : { ratePerSecond: plan.ratePerSecond }),
  });
  await receiver.settle(plan.mark, load.sent, STALL_MS);
  const { atMs } = await receiver.collect(plan.mark);
  const receipts = measureReceipts(load, atMs);
  return {
    plan,
    sent: load.sent,
    elapsedMs: receipts.elapsedMs,
    eventsPerSecond: (receipts.summary.count / receipts.elapsedMs) * 1_000,
    requestsPerSecond: (load.sent / load.elapsedMs) * 1_000,
    answers: load.answers,
    receipts: receipts.summary,
    cpu: cpuTimes(before, listAll()),
    faults: faultsOf(plan, load, receipts.summary.count),
  };
}

function measureReceipts(load: LoadResult, atMs: Float64Array): { summary: LatencySummary; elapsedMs: number } {
  const latencies = createLatencies();
  let lastMs = 0;
  for (let index = 0; index < load.sent; index++) {
    const arrivedMs = atMs[index] ?? 0;
    if (arrivedMs === 0) continue;
    latencies.record(arrivedMs - (load.startedAtMs[index] as number));
    lastMs = Math.max(lastMs, arrivedMs);
  }
  return { summary: latencies.summary(), elapsedMs: lastMs - (load.startedAtMs[0] as number) };
}

function faultsOf(plan: PhasePlan, load: LoadResult, arrived: number): string[] {
  const faults: string[] = [];
  const ok = load.statuses[200] ?? 0;
  if (ok !== load.sent) faults.push(`${plan.name}: the endpoint answered ${JSON.stringify(load.statuses)}`);
  if (arrived !== load.sent) faults.push(`${plan.name}: ${load.sent - arrived} of ${load.sent} events never arrived`);
  return faults;
}
