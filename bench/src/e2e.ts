import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BenchArguments } from './arguments.ts';
import { type Baselines, createBaselines } from './baselines/baselines.ts';
import { checkOutcome } from './e2e-checks.ts';
import { type PhaseParts, type PhasePlan, type PhaseResult, runPhase } from './e2e-phase.ts';
import { type E2eReport, formatE2e, ratiosOf } from './e2e-report.ts';
import { EMITTING_SOURCE } from './event-source.ts';
import { createRequestTemplate } from './load/request-bytes.ts';
import { describeMachine } from './machine.ts';
import { type ProfileSummary, readProfiles } from './profile/read-profiles.ts';
import { ID_CHARS } from './receiver/messages.ts';
import { type Receiver, startReceiver } from './receiver/receiver.ts';
import { createApiClient } from './system/api-client.ts';
import { bootSystem } from './system/boot-system.ts';
import type { Undo } from './undo.ts';

/** Part of the maximum at which latencies are worth looking at: there the queue is not the whole story. */
const OPEN_LOOPS = [
  { mark: 'h', name: 'open loop, 50 %', part: 0.5 },
  { mark: 'o', name: 'open loop, 80 %', part: 0.8 },
];
const OPEN_LOOP_SECONDS = 5;
const MAX_WARM_UP_EVENTS = 5_000;

/**
 * The whole path as a user has it: `npm start`, one source, one webhook, requests over HTTP, receipts in another process.
 * Answers false when an event was lost, came twice, was badly signed, or the database disagrees.
 */
export async function benchE2e(undo: Undo, options: BenchArguments): Promise<boolean> {
  const receiver = await startReceiver(undo);
  const baselines = options.baselines ? createBaselines(undo, options, receiver.baselineUrl) : undefined;
  const rounds: Baselines[] = [];
  if (baselines !== undefined) rounds.push(await baselines.round());
  const measured = await measureSystem(undo, options, receiver);
  if (baselines !== undefined) rounds.push(await baselines.round());
  const report: E2eReport = { machine: describeMachine(), options, baselines: rounds, ...measured };
  if (options.json) console.log(JSON.stringify({ ...report, ratios: ratiosOf(report) }, undefined, 2));
  else console.log(formatE2e(report));
  return report.checks.faults.length === 0;
}

async function measureSystem(undo: Undo, options: BenchArguments, receiver: Receiver) {
  const profileDir = options.profile ? mkdtempSync(path.join(tmpdir(), 'headwater-profile-')) : undefined;
  if (profileDir !== undefined) undo.push(() => rmSync(profileDir, { recursive: true, force: true }));
  const system = await bootSystem(undo, profileDir === undefined ? {} : { profileDir });
  const api = createApiClient(system);
  const source = await api.deploySource(EMITTING_SOURCE);
  const { webhookId, secret } = await api.subscribe(source.id, receiver.url);
  receiver.verify(secret, options.verifyEvery);
  const template = createRequestTemplate(source.endpointUrl, options.bodyBytes, ID_CHARS);
  const phases = await runPhases({ system, receiver, template, options });
  const checks = await checkOutcome(api, receiver, webhookId, phases);
  await system.stop();
  const profiles: ProfileSummary[] = profileDir === undefined ? [] : readProfiles(profileDir);
  return { phases, checks, profiles };
}

async function runPhases(parts: PhaseParts): Promise<PhaseResult[]> {
  const { events } = parts.options;
  const warmUp = { mark: 'w', name: 'warm-up', events: Math.min(events, MAX_WARM_UP_EVENTS) };
  const closed = { mark: 'c', name: 'closed loop', events };
  const phases = [await runPhase(parts, warmUp), await runPhase(parts, closed)];
  const maximum = phases[1]?.eventsPerSecond ?? 0;
  for (const { mark, name, part } of OPEN_LOOPS) {
    const ratePerSecond = Math.max(1, Math.round(maximum * part));
    const plan: PhasePlan = { mark, name, ratePerSecond, events: ratePerSecond * OPEN_LOOP_SECONDS };
    phases.push(await runPhase(parts, plan));
  }
  return phases;
}
