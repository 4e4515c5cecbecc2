import type { BenchArguments } from '../arguments.ts';
import type { LatencySummary } from '../load/latencies.ts';
import { runLoad } from '../load/load-phase.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { describeMachine } from '../machine.ts';
import { attachInspector } from '../profile/inspector.ts';
import { type ProfileSummary, summarizeProfile } from '../profile/summarize-profile.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';
import { type CpuTimes, cpuTimes } from '../system/cpu-times.ts';
import { mainThreadMs } from '../system/process-tree.ts';
import { formatCount, formatCpu, formatLatency, formatMachine, formatProfile, line } from '../text.ts';
import type { Undo } from '../undo.ts';
import type { StartedAnswering } from './answering-system.ts';
import { headwater, HONO, NODE_RED, WORKERD } from './answering-systems.ts';

const ROUNDS = 3;
/** Optimised code and full pools: less than that is measured a third slower. */
const WARM_UP_REQUESTS = 5_000;

interface Round {
  perSecond: number;
  answers: LatencySummary;
  sent: number;
  ok: number;
  cpu: CpuTimes;
  mainThreadMs: number;
}

interface Row {
  name: string;
  rounds: Round[];
  profile?: ProfileSummary;
}

interface MeasuredRow extends Row {
  system: StartedAnswering;
  url: string;
}

/**
 * Requests that are answered with what they brought, by this system and by others that do nothing
 * else. All of them run at once, and take turns: what the machine does beside is shared.
 */
export async function benchAnswer(undo: Undo, options: BenchArguments): Promise<boolean> {
  const { before, baselines, profile } = options;
  const systems = [
    headwater('Headwater', { inspect: profile }),
    ...(before === undefined ? [] : [headwater('before', { projectDir: before })]),
    ...(baselines ? [WORKERD, NODE_RED, HONO] : []),
  ];
  const rows: MeasuredRow[] = [];
  for (const { start } of systems) {
    const system = await start(undo);
    for (const [name, url] of system.endpoints) rows.push({ name, rounds: [], system, url });
  }
  for (const row of rows) await measureRound(row, Math.min(options.events, WARM_UP_REQUESTS), options);
  for (let round = 0; round < (options.quick ? 1 : ROUNDS); round++)
    for (const row of rows) row.rounds.push(await measureRound(row, options.events, options));
  if (profile) for (const row of rows) await profileRow(row, options);
  const machine = describeMachine();
  const report = rows.map(({ name, rounds, profile: found }) => ({ name, rounds, ...(found && { profile: found }) }));
  if (options.json) console.log(JSON.stringify({ machine, options, rows: report }, undefined, 2));
  else console.log([formatMachine(machine), ...report.flatMap(formatRow)].join('\n'));
  return rows.every(({ rounds }) => rounds.every(({ sent, ok }) => sent === ok));
}

/** In a round of its own, since it makes all slower. */
async function profileRow(row: MeasuredRow, options: BenchArguments): Promise<void> {
  if (row.system.inspectorUrl === undefined) return;
  const inspector = await attachInspector(row.system.inspectorUrl);
  await inspector.startProfile();
  await measureRound(row, options.events, options);
  row.profile = summarizeProfile(await inspector.stopProfile());
  inspector.close();
}

async function measureRound(
  { system: { processes, mainPid }, url }: MeasuredRow,
  requests: number,
  options: BenchArguments,
): Promise<Round> {
  const template = createRequestTemplate(url, options.bodyBytes, ID_CHARS);
  const before = processes();
  const threadMs = mainThreadMs(mainPid);
  const { sent, statuses, elapsedMs, answers } = await runLoad({
    target: template.target,
    connections: options.connections,
    requests,
    maxMs: options.maxPhaseMs,
    request: (index) => template.request(eventId('a', index)),
  });
  return {
    perSecond: (sent / elapsedMs) * 1_000,
    answers,
    sent,
    ok: statuses[200] ?? 0,
    cpu: cpuTimes(before, processes()),
    mainThreadMs: mainThreadMs(mainPid) - threadMs,
  };
}

/** The round in the middle by what it cost, and the range of all. */
function formatRow({ name, rounds, profile }: Row): string[] {
  const cpuOf = ({ cpu, sent }: Round) => (Object.values(cpu).reduce((sum, ms) => sum + ms, 0) / sent) * 1_000;
  const sorted = rounds.toSorted((a, b) => cpuOf(a) - cpuOf(b));
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) return [];
  const rates = rounds.map(({ perSecond }) => formatCount(perSecond));
  const threads = rounds.map((round) => formatCount((round.mainThreadMs / round.sent) * 1_000));
  return [
    '',
    `${name}: ${formatCount(middle.sent)} requests a round${middle.ok === middle.sent ? '' : `, ${middle.ok} answered 200`}`,
    line('requests/s', rates.join(', ')),
    line('request to answer', formatLatency(middle.answers)),
    line('CPU, µs a request', formatCpu(middle.cpu, middle.sent)),
    line('range', sorted.map((round) => formatCount(cpuOf(round))).join(', ')),
    line('main thread', threads.join(', ')),
    ...(profile === undefined ? [] : ['', formatProfile(profile)]),
  ];
}
