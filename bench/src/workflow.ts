import type { BenchArguments } from './arguments.ts';
import type { LatencySummary } from './load/latencies.ts';
import { runLoad } from './load/load-phase.ts';
import { describeMachine } from './machine.ts';
import { DBOS } from './peers/dbos.ts';
import { headwater } from './peers/headwater.ts';
import { RESTATE } from './peers/restate.ts';
import { type StartedSystem, STEP_COUNTS } from './peers/workflow-system.ts';
import { attachInspector } from './profile/inspector.ts';
import { summarizeProfile } from './profile/summarize-profile.ts';
import { type CpuTimes, cpuTimes } from './system/cpu-times.ts';
import { formatProfile } from './text.ts';
import type { Undo } from './undo.ts';
import { formatWorkflows, type WorkflowFigures } from './workflow-report.ts';

const IN_FLIGHT = [1, 20, 64] as const;
const WARM_UP_MS = 3_000;
const ROUND_MS = 2_000;
const ROUNDS = 3;
const QUICK_MS = 200;
const MAX_REQUESTS = 200_000;
const BODY = '{"n":10}';
const RESULT = 55;

interface Round {
  sent: number;
  ok: number;
  elapsedMs: number;
  answers: LatencySummary;
  cpu: CpuTimes;
}

/**
 * Executions of the same workflow by this system and by two others. All of them are up at once, and
 * take turns: what the machine does beside is shared.
 */
export async function benchWorkflow(undo: Undo, options: BenchArguments): Promise<boolean> {
  const { before, baselines, profile, quick } = options;
  const systems = [
    headwater('Headwater', { inspect: profile }),
    ...(before === undefined ? [] : [headwater('before', { projectDir: before })]),
    ...(baselines ? [RESTATE, DBOS] : []),
  ];
  const rows: { name: string; system: StartedSystem }[] = [];
  for (const { name, start } of systems) rows.push({ name, system: await start(undo) });
  const figures: WorkflowFigures[] = [];
  for (const steps of STEP_COUNTS) {
    for (const { system } of rows) {
      await checkAnswer(system, steps);
      await measureRound(system, steps, Math.max(...IN_FLIGHT), quick ? QUICK_MS : WARM_UP_MS);
    }
    for (const inFlight of IN_FLIGHT) figures.push(...(await measureCase(rows, steps, inFlight, quick)));
    if (profile && rows[0] !== undefined) console.log(await profileCase(rows[0].system, steps));
  }
  const machine = describeMachine();
  console.log(options.json ? JSON.stringify({ machine, figures }, undefined, 2) : formatWorkflows(machine, figures));
  return figures.every(({ failed }) => failed === 0);
}

async function measureCase(
  rows: readonly { name: string; system: StartedSystem }[],
  steps: number,
  inFlight: number,
  quick: boolean,
): Promise<WorkflowFigures[]> {
  const rounds = rows.map((): Round[] => []);
  for (let count = quick ? 1 : ROUNDS; count > 0; count--)
    for (const [i, { system }] of rows.entries())
      rounds[i]?.push(await measureRound(system, steps, inFlight, quick ? QUICK_MS : ROUND_MS));
  return rows.map(({ name }, i) => summarize(name, steps, inFlight, rounds[i] ?? []));
}

async function measureRound(system: StartedSystem, steps: number, inFlight: number, maxMs: number): Promise<Round> {
  const before = system.processes();
  const { statuses, elapsedMs, answers } = await load(system, steps, inFlight, maxMs);
  const sent = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { sent, ok: statuses[200] ?? 0, elapsedMs, answers, cpu: cpuTimes(before, system.processes()) };
}

/** Sums of all rounds; latencies are those of the round in the middle by its p50. */
function summarize(system: string, steps: number, inFlight: number, rounds: readonly Round[]): WorkflowFigures {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const ok = sum((round) => round.ok);
  const roles = new Set(rounds.flatMap(({ cpu }) => Object.keys(cpu)));
  const cpu = Object.fromEntries([...roles].map((role) => [role, sum((round) => round.cpu[role] ?? 0)]));
  const sorted = rounds.toSorted((a, b) => a.answers.p50Ms - b.answers.p50Ms);
  const { answers } = sorted[Math.floor(sorted.length / 2)] as Round;
  const perSecond = (ok / sum(({ elapsedMs }) => elapsedMs)) * 1_000;
  return { system, steps, inFlight, perSecond, executions: ok, failed: sum(({ sent }) => sent) - ok, answers, cpu };
}

/** In a round of its own, since it makes all slower. */
async function profileCase(system: StartedSystem, steps: number): Promise<string> {
  if (system.inspectorUrl === undefined) return '';
  const inspector = await attachInspector(system.inspectorUrl);
  await inspector.startProfile();
  await measureRound(system, steps, Math.max(...IN_FLIGHT), ROUND_MS * ROUNDS);
  const profile = summarizeProfile(await inspector.stopProfile());
  inspector.close();
  return `${steps} steps: ${formatProfile(profile)}`;
}

/** Checks the answer before the measurement, so that the figures are those of the right work. */
async function checkAnswer(system: StartedSystem, steps: number): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(system.endpoint(steps), { method: 'POST', headers, body: BODY });
  const text = await response.text();
  if (!response.ok || (JSON.parse(text) as { result?: unknown }).result !== RESULT) {
    throw new Error(`A workflow of ${steps} steps answered ${response.status}: ${text.slice(0, 500)}`);
  }
}

function load(system: StartedSystem, steps: number, inFlight: number, maxMs: number) {
  const { hostname, port, host, pathname } = new URL(system.endpoint(steps));
  const request =
    `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
    `content-length: ${BODY.length}\r\n\r\n${BODY}`;
  const target = { host: hostname, port: Number(port) };
  return runLoad({ target, connections: inFlight, requests: MAX_REQUESTS, maxMs, request: () => request });
}
