import { appendFileSync, writeFileSync } from 'node:fs';
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
import {
  readEvents,
  readExecutions,
  readFailedRuns,
  readHolders,
  readReplays,
  readStuck,
  type Sql,
} from './read-outcome.ts';
import type { Outcome, SentRequest, Target, TenantOutcome } from './records.ts';
import { replayNotes } from './replay-notes.ts';
import type { Report } from './report.ts';
import { type SoakSystem, startSystem, type SystemOptions } from './start-system.ts';
import { summarizeLogs } from './summarize-logs.ts';
import { switchWebhooks } from './switch-webhooks.ts';
import { bringToRest, type Tenant } from './tenants.ts';
import { figuresOfTicks } from './tick-pauses.ts';

const WORKFLOW_SHARE = 2 / 13;
/** Requests a second to what is tried beside the main load, over both accounts. */
const SIDE_RATES = { notes: 4, greatest: 2, last: 2, asked: 4, waits: 2 } as const;

type SoakContext = Omit<SystemOptions, 'seed' | 'beside'>;

/** Starts a system, hurts it, lets it come to an end and accounts for every id. */
export async function soak(options: SoakArguments, context: SoakContext): Promise<Report> {
  const loads = [loadavg()[0] ?? 0];
  const system = await startSystem({ ...context, ...options });
  return Promise.race([system.receiver.died, soakSystem(options, context, system, loads)]);
}

async function soakSystem(
  options: SoakArguments,
  { folder, signal }: SoakContext,
  system: SoakSystem,
  loads: number[],
): Promise<Report> {
  const { nodes, apiNodes, timeline } = system;
  const memory = watchMemory(nodes);
  const beganAtMs = Date.now();
  const { counts, requests, stops } = await sendUnderFaults(options, system, signal);
  timeline.add('faults are over', counts);
  loads.push(loadavg()[0] ?? 0);
  const ill = await untilHealthy(nodes, signal);
  const urls = apiNodes.map(({ url }) => url);
  await bringToRest(urls, system.tenants);
  const drained = await drain(system.postgres, timeline, signal);
  timeline.add(drained.ended ? 'drained' : 'not drained', { ...drained });
  const held = await readHeldWork(nodes, signal);
  const outcome = await readOutcome(system, options.emits, requests, drained);
  await writeEvidence(folder, system, requests);
  const memoryBytes = memory.stop();
  const ticks = outcome.tenants.map((tenant) => tenant.ticks);
  const seconds = (Date.now() - beganAtMs) / 1_000;
  await Promise.all(nodes.map((node) => node.stop()));
  return {
    title: titleOf(options, counts, loads),
    figures: [
      ...figuresOfAnswers(outcome),
      ...figuresOfWork(outcome, stops),
      ...figuresOfTicks(ticks, (fromMs, toMs) => canTick(system, fromMs, toMs), timeline.seconds),
      ['drained', `${drained.ended ? 'in' : 'NOT in'} ${Math.round(drained.tookMs / 1_000)} s`],
      ...figuresOfNodes(nodes, seconds, memoryBytes),
    ],
    promises: [...judge(outcome), ...promisesOfNodes(nodes, ill), { name: 'work that nodes never end', broken: held }],
  };
}

/** Load and faults begin together. The load goes on until the last fault is over. */
async function sendUnderFaults(
  { minutes, seed, ratePerSecond, emits }: SoakArguments,
  system: SoakSystem,
  signal: AbortSignal,
): Promise<{ counts: FaultCounts; requests: readonly SentRequest[]; stops: number }> {
  const durationMs = minutes * 60_000;
  const { tenants, receivers, timeline } = system;
  const rates: Record<Target, number> = {
    source: ratePerSecond,
    workflow: ratePerSecond * WORKFLOW_SHARE,
    ...SIDE_RATES,
  };
  const load = startLoad({ nodes: system.apiNodes, tenants, rates, emits, random: createRandom(seed + 3) });
  const calls = { nodeUrls: system.apiNodes.map(({ url }) => url), tenants, timeline };
  const switches = switchWebhooks({ ...calls, random: createRandom(seed + 4) });
  const replays = replayNotes({ ...calls, receivers, durationMs, random: createRandom(seed + 5) });
  const faults = planFaults(createRandom(seed), durationMs);
  const counts = await injectFaults(faults, durationMs, system, signal);
  const [, { stops }] = await Promise.all([load.stop(), switches.stop(), replays.stop()]);
  return { counts, requests: load.requests, stops };
}

async function readOutcome(
  system: SoakSystem,
  emits: number,
  requests: readonly SentRequest[],
  drained: Drained,
): Promise<Outcome> {
  const { postgres, tenants, receiver } = system;
  const { hooks, calls } = await receiver.finish(tenants.length);
  return postgres.withConnection(async (sql) => ({
    requests,
    emits,
    tenants: await Promise.all(tenants.map((tenant, i) => readTenant(sql, tenant, hooks[i] ?? new Map()))),
    calls,
    executions: await readExecutions(sql),
    failedRuns: await readFailedRuns(sql),
    stuck: drained.ended ? [] : await readStuck(sql),
  }));
}

async function readTenant(
  sql: Sql,
  { targets, timer, subscribedAtMs }: Tenant,
  hooks: TenantOutcome['hooks'],
): Promise<TenantOutcome> {
  return {
    sourceEvents: await readEvents(sql, targets.source.id),
    ticks: await readEvents(sql, timer.id),
    notes: await readEvents(sql, targets.notes.id),
    numbers: {
      greatest: await readEvents(sql, targets.greatest.id),
      last: await readEvents(sql, targets.last.id),
    },
    asked: await readEvents(sql, targets.asked.id),
    hooks,
    replays: await readReplays(sql, targets.notes.id),
    subscribedAtMs,
  };
}

const LINES_AT_ONCE = 10_000;

/** Beside logs and timeline: what one needs to follow an id, and what holds what does not move. */
async function writeEvidence(folder: string, system: SoakSystem, requests: readonly SentRequest[]): Promise<void> {
  const write = (name: string, lines: readonly unknown[]) => {
    // In parts: a text has a limit, and an hour has many lines.
    for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
      const part = lines.slice(at, at + LINES_AT_ONCE).map((line) => `${JSON.stringify(line)}\n`);
      appendFileSync(path.join(folder, name), part.join(''));
    }
  };
  write('requests.jsonl', requests);
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

function titleOf(
  { minutes, seed, ratePerSecond, emits, beside }: SoakArguments,
  counts: FaultCounts,
  loads: number[],
): string {
  const faults = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
  return [
    `soak: seed ${seed}, ${minutes} min, ${ratePerSecond} requests/s to sources, ${emits} events each`,
    ...(beside === undefined ? [] : [`api-2 and engine-2 of ${beside}`]),
    `load of the machine ${loads.map((load) => load.toFixed(1)).join(' → ')}`,
    `faults: ${faults.join(', ')}`,
  ].join('\n');
}
