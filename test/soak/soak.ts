import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import type { SoakArguments } from './arguments.ts';
import { drain, type Drained, untilHealthy } from './drain.ts';
import { figuresOfAnswers, figuresOfNodes, figuresOfWork, promisesOfNodes, watchMemory } from './figures.ts';
import { type FaultCounts, injectFaults } from './inject-faults.ts';
import { judge } from './judge.ts';
import { startLoad } from './load.ts';
import { readHeldWork, readMetrics } from './node-metrics.ts';
import { planFaults } from './plan-faults.ts';
import { createRandom } from './random.ts';
import { readEvents, readExecutions, readFailedRuns, readHolders, readStuck } from './read-outcome.ts';
import type { Outcome, SentRequest } from './records.ts';
import type { Report } from './report.ts';
import { type SoakSystem, startSystem, type SystemOptions } from './start-system.ts';
import { summarizeLogs } from './summarize-logs.ts';
import { STEPS, stopTimers } from './tenants.ts';
import { figuresOfTicks } from './tick-pauses.ts';

const WORKFLOW_SHARE = 2 / 13;

/** Starts a system, hurts it, lets it come to an end and accounts for every id. */
export async function soak(options: SoakArguments, context: Omit<SystemOptions, 'seed'>): Promise<Report> {
  const { folder, signal } = context;
  const loads = [loadavg()[0] ?? 0];
  const system = await startSystem({ ...context, seed: options.seed });
  const { nodes, apiNodes, timeline } = system;
  const memory = watchMemory(nodes);
  const beganAtMs = Date.now();
  const { counts, requests } = await sendUnderFaults(options, system, signal);
  timeline.add('faults are over', counts);
  loads.push(loadavg()[0] ?? 0);
  const ill = await untilHealthy(nodes, signal);
  const urls = apiNodes.map(({ url }) => url);
  await stopTimers(urls, system.tenants);
  const drained = await drain(system.postgres, timeline, signal);
  timeline.add(drained.ended ? 'drained' : 'not drained', { ...drained });
  const held = await readHeldWork(nodes, signal);
  const outcome = await readOutcome(system, requests, drained);
  await writeEvidence(folder, system, requests);
  const memoryBytes = memory.stop();
  const seconds = (Date.now() - beganAtMs) / 1_000;
  await Promise.all(nodes.map((node) => node.stop()));
  return {
    title: titleOf(options, counts, loads),
    figures: [
      ...figuresOfAnswers(outcome),
      ...figuresOfWork(outcome),
      ...figuresOfTicks(outcome.ticks, (fromMs, toMs) => canTick(system, fromMs, toMs), timeline.seconds),
      ['drained', `${drained.ended ? 'in' : 'NOT in'} ${Math.round(drained.tookMs / 1_000)} s`],
      ...figuresOfNodes(nodes, seconds, memoryBytes),
    ],
    promises: [...judge(outcome), ...promisesOfNodes(nodes, ill), { name: 'work that nodes never end', broken: held }],
  };
}

/** Load and faults begin together. The load goes on until the last fault is over. */
async function sendUnderFaults(
  { minutes, seed, ratePerSecond }: SoakArguments,
  system: SoakSystem,
  signal: AbortSignal,
): Promise<{ counts: FaultCounts; requests: readonly SentRequest[] }> {
  const durationMs = minutes * 60_000;
  const load = startLoad({
    nodes: system.apiNodes,
    tenants: system.tenants,
    sourceRatePerSecond: ratePerSecond,
    workflowRatePerSecond: ratePerSecond * WORKFLOW_SHARE,
    random: createRandom(seed + 3),
  });
  const faults = planFaults(createRandom(seed), durationMs);
  const counts = await injectFaults(faults, durationMs, system, signal);
  await load.stop();
  return { counts, requests: load.requests };
}

async function readOutcome(
  { postgres, tenants, receiver }: SoakSystem,
  requests: readonly SentRequest[],
  drained: Drained,
): Promise<Outcome> {
  return postgres.withConnection(async (sql) => ({
    requests,
    messages: receiver.messages,
    calls: receiver.calls,
    sourceEvents: await Promise.all(tenants.map(({ source }) => readEvents(sql, source.id))),
    ticks: await Promise.all(tenants.map(({ timer }) => readEvents(sql, timer.id))),
    executions: await readExecutions(sql),
    failedRuns: await readFailedRuns(sql),
    stuck: drained.ended ? [] : await readStuck(sql),
    subscribedAtMs: Math.max(...tenants.map((tenant) => tenant.subscribedAtMs)),
    steps: STEPS,
  }));
}

/** Beside logs and timeline: what one needs to follow an id, and what holds what does not move. */
async function writeEvidence(folder: string, system: SoakSystem, requests: readonly SentRequest[]): Promise<void> {
  const write = (name: string, lines: readonly unknown[]) =>
    writeFileSync(path.join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  write('requests.jsonl', requests);
  write('calls.jsonl', system.receiver.calls);
  write('logged-errors.jsonl', summarizeLogs(system.nodes));
  const holders = await system.postgres.withConnection(readHolders);
  const metrics = await Promise.all(
    system.nodes.map(async (node): Promise<[string, string[]]> => [node.name, await readMetrics(node)]),
  );
  const text = JSON.stringify({ ...holders, metrics: Object.fromEntries(metrics) }, undefined, 1);
  writeFileSync(path.join(folder, 'holders.json'), `${text}\n`);
}

function canTick({ nodes, postgres }: SoakSystem, fromMs: number, toMs: number): boolean {
  const engines = nodes.filter(({ role }) => role === 'engine');
  return !postgres.wasDown(fromMs, toMs) && engines.some((node) => !node.wasDisturbed(fromMs, toMs));
}

function titleOf({ minutes, seed, ratePerSecond }: SoakArguments, counts: FaultCounts, loads: number[]): string {
  const faults = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
  return [
    `soak: seed ${seed}, ${minutes} min, ${ratePerSecond} requests/s to sources`,
    `load of the machine ${loads.map((load) => load.toFixed(1)).join(' → ')}`,
    `faults: ${faults.join(', ')}`,
  ].join('\n');
}
