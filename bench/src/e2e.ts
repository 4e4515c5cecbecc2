import type { BenchArguments } from './arguments.ts';
import { type Baselines, createBaselines } from './baselines/baselines.ts';
import { type BenchWebhook, checkOutcome } from './e2e-checks.ts';
import { type PhaseParts, type PhasePlan, type PhaseResult, runPhase } from './e2e-phase.ts';
import { type E2eReport, formatE2e, MAIN_PHASE, QUIET_PHASE, quietRatioOf, ratiosOf } from './e2e-report.ts';
import { EMITTING_SOURCE } from './event-source.ts';
import { createRequestTemplate } from './load/request-bytes.ts';
import { describeMachine } from './machine.ts';
import { attachInspector, type Inspector } from './profile/inspector.ts';
import { summarizeProfile } from './profile/summarize-profile.ts';
import { ID_CHARS } from './receiver/messages.ts';
import { type Receiver, startReceiver } from './receiver/receiver.ts';
import { createApiClient } from './system/api-client.ts';
import { bootSystem, type System } from './system/boot-system.ts';
import type { Undo } from './undo.ts';

/**
 * Part of the maximum at which latencies are worth looking at: there the queue is not the whole
 * story.
 */
const OPEN_LOOPS = [
  { mark: 'h', name: 'open loop, 50 %', part: 0.5 },
  { mark: 'o', name: 'open loop, 80 %', part: 0.8 },
];
const OPEN_LOOP_SECONDS = 5;
/** Each event is alone in the system. */
const QUIET_PER_SECOND = 100;
const MAX_WARM_UP_EVENTS = 5_000;

/**
 * The whole path as a user has it: `npm start`, one source and one webhook of each account,
 * requests over HTTP, receipts in another process. Answers false when an event was lost, came
 * twice, was badly signed, or the database disagrees.
 */
export async function benchE2e(undo: Undo, options: BenchArguments): Promise<boolean> {
  const receiver = await startReceiver(undo);
  const baselines = options.baselines ? createBaselines(undo, options, receiver.baselineUrl) : undefined;
  const rounds: Baselines[] = [];
  if (baselines !== undefined) rounds.push(await baselines.round());
  const measured = await measureSystem(undo, options, receiver);
  if (baselines !== undefined) rounds.push(await baselines.round());
  const report: E2eReport = { machine: describeMachine(), options, baselines: rounds, ...measured };
  if (options.json)
    console.log(
      JSON.stringify({ ...report, ratios: ratiosOf(report), quietRatio: quietRatioOf(report) }, undefined, 2),
    );
  else console.log(formatE2e(report));
  return report.checks.faults.length === 0;
}

async function measureSystem(undo: Undo, options: BenchArguments, receiver: Receiver) {
  const system = await bootSystem(undo, { inspect: options.profile });
  const tenants = await createTenants(system, options.accounts, receiver.url);
  const secrets = tenants.map(({ secret }) => secret);
  receiver.verify(secrets, options.verifyEvery);
  const templates = tenants.map(({ url }) => createRequestTemplate(url, options.bodyBytes, ID_CHARS));
  const inspector = system.inspectorUrl === undefined ? undefined : await attachInspector(system.inspectorUrl);
  const phases = await runPhases({ system, receiver, templates, options }, inspector);
  const checks = await checkOutcome(tenants, receiver, phases.results);
  inspector?.close();
  await system.stop();
  return { phases: phases.results, checks, ...(phases.profile === undefined ? {} : { profile: phases.profile }) };
}

interface Tenant extends BenchWebhook {
  secret: string;
  /** Endpoint of the tenant's source. */
  url: string;
}

async function createTenants(system: System, count: number, receiverUrl: string): Promise<Tenant[]> {
  const operator = createApiClient(system, system.adminKey);
  const tenants: Tenant[] = [];
  for (let i = 0; i < count; i++) {
    const api = createApiClient(system, i === 0 ? system.apiKey : await operator.createAccount(`Bench ${i}`));
    const source = await api.deploySource(EMITTING_SOURCE);
    tenants.push({ api, url: source.endpointUrl, ...(await api.subscribe(source.id, receiverUrl)) });
  }
  return tenants;
}

async function runPhases(parts: PhaseParts, inspector: Inspector | undefined) {
  const { events } = parts.options;
  const warmUp = { mark: 'w', name: 'warm-up', events: Math.min(events, MAX_WARM_UP_EVENTS) };
  const results: PhaseResult[] = [await runPhase(parts, warmUp)];
  await inspector?.startProfile();
  const closed = await runPhase(parts, { mark: MAIN_PHASE, name: 'closed loop', events });
  const profile = await inspector?.stopProfile();
  results.push(closed);
  for (const { mark, name, part } of OPEN_LOOPS) {
    const ratePerSecond = Math.max(1, Math.round(closed.eventsPerSecond * part));
    const plan: PhasePlan = { mark, name, ratePerSecond, events: ratePerSecond * OPEN_LOOP_SECONDS };
    results.push(await runPhase(parts, plan));
  }
  const ratePerSecond = Math.min(QUIET_PER_SECOND, Math.ceil(events / OPEN_LOOP_SECONDS));
  const quiet = { mark: QUIET_PHASE, name: 'quiet', ratePerSecond, events: ratePerSecond * OPEN_LOOP_SECONDS };
  results.push(await runPhase(parts, quiet));
  return { results, profile: profile === undefined ? undefined : summarizeProfile(profile) };
}
