import type { BenchArguments } from './arguments.ts';
import type { Baselines } from './baselines/baselines.ts';
import type { Checks } from './e2e-checks.ts';
import type { PhaseResult } from './e2e-phase.ts';
import type { Machine } from './machine.ts';
import type { ProfileSummary } from './profile/summarize-profile.ts';
import { formatCount, formatCpu, formatLatency, formatMachine, formatProfile, line } from './text.ts';

export interface E2eReport {
  machine: Machine;
  options: BenchArguments;
  phases: PhaseResult[];
  checks: Checks;
  /** Before and after the phases; empty when they were left out. */
  baselines: Baselines[];
  /** Profile of the server's main thread during the closed loop. */
  profile?: ProfileSummary;
}

const BASELINE_NAMES: Record<keyof Baselines, string> = {
  echoRequests: 'Hono echo, requests/s',
  signedPosts: 'signed undici POSTs/s',
  signedPostsAlone: 'the same, 1 at a time/s',
  insertsSingle: 'inserts, 1 a transaction/s',
  insertsBatchOf50: 'inserts, 50 a batch, rows/s',
  insertsBatchOf256: 'inserts, 256 a batch, rows/s',
};

/** Mark of the closed loop, the phase that is compared. */
export const MAIN_PHASE = 'c';

/** Mark of the open loop that leaves the system idle nearly all of the time. */
export const QUIET_PHASE = 'q';

/**
 * The median from request to receipt when it is quiet, divided by that of one durable insert and
 * one signed POST, each measured alone.
 */
export function quietRatioOf({ phases, baselines }: E2eReport): number | undefined {
  const quiet = phases.find((phase) => phase.plan.mark === QUIET_PHASE);
  if (quiet === undefined || baselines.length === 0) return undefined;
  const partsMs = 1_000 / meanOf(baselines, 'insertsSingle') + 1_000 / meanOf(baselines, 'signedPostsAlone');
  return quiet.receipts.p50Ms / partsMs;
}

/**
 * Events a second of the closed loop, divided by the mean of each baseline: comparable between
 * machines.
 */
export function ratiosOf(report: E2eReport): Partial<Record<keyof Baselines, number>> {
  const events = report.phases.find((phase) => phase.plan.mark === MAIN_PHASE)?.eventsPerSecond ?? 0;
  if (report.baselines.length === 0) return {};
  const names = Object.keys(BASELINE_NAMES) as (keyof Baselines)[];
  return Object.fromEntries(names.map((name) => [name, events / meanOf(report.baselines, name)]));
}

export function formatE2e(report: E2eReport): string {
  const { machine, options, phases, checks, profile } = report;
  const { accounts, connections, bodyBytes } = options;
  const who = accounts === 1 ? 'one source, one webhook' : `${accounts} accounts, each with one source and one webhook`;
  return [
    formatMachine(machine),
    `end to end: ${connections} connections, bodies of ${bodyBytes} bytes, ${who}`,
    ...phases.flatMap(formatPhase),
    ...formatChecks(checks),
    ...formatBaselines(report),
    ...(profile === undefined ? [] : ['', formatProfile(profile)]),
  ].join('\n');
}

function formatPhase({ plan, ...result }: PhaseResult): string[] {
  const due = plan.ratePerSecond === undefined ? '' : `, ${formatCount(plan.ratePerSecond)} due a second`;
  return [
    '',
    `${plan.name}: ${formatCount(result.sent)} events${due}`,
    line('events/s', `${formatCount(result.eventsPerSecond)} from first request to last receipt`),
    line('answers/s', formatCount(result.requestsPerSecond)),
    line('request to receipt', formatLatency(result.receipts)),
    line('request to answer', formatLatency(result.answers)),
    line('CPU, µs an event', formatCpu(result.cpu, result.sent)),
  ];
}

function formatChecks(checks: Checks): string[] {
  if (checks.faults.length > 0) return ['', 'FAILED', ...checks.faults.map((fault) => `  ${fault}`)];
  const { sent, verifiedSignatures, storedDeliveries } = checks;
  return [
    '',
    `${formatCount(sent)} of ${formatCount(sent)} events arrived exactly once; ` +
      `${formatCount(verifiedSignatures)} signatures verified; ${formatCount(storedDeliveries)} deliveries in the database`,
  ];
}

function formatBaselines(report: E2eReport): string[] {
  if (report.baselines.length === 0) return [];
  const ratios = ratiosOf(report);
  const names = Object.keys(BASELINE_NAMES) as (keyof Baselines)[];
  return [
    '',
    'baselines                       before     after   events/s of the closed loop to their mean',
    ...names.map((name) => {
      const figures = report.baselines.map((round) => formatCount(round[name]).padStart(9)).join(' ');
      return `  ${BASELINE_NAMES[name].padEnd(28)}${figures}   ${(ratios[name] ?? 0).toFixed(2)}`;
    }),
    '',
    `quiet, p50 from request to receipt: ${quietRatioOf(report)?.toFixed(1)} × one insert and one signed POST, each alone`,
  ];
}

function meanOf(rounds: readonly Baselines[], name: keyof Baselines): number {
  return rounds.reduce((sum, round) => sum + round[name], 0) / rounds.length;
}
