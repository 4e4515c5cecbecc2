import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { openDatabase } from '../../../engine/src/db/database.ts';
import type { BenchArguments } from '../arguments.ts';
import { describeMachine } from '../machine.ts';
import { bootSystem, type System } from '../system/boot-system.ts';
import { formatCount, formatMachine, line } from '../text.ts';
import type { Undo } from '../undo.ts';
import { fillExecutions, type Filled } from './fill-executions.ts';
import { measureQueries, type QueryCost } from './measure-queries.ts';

interface WaitingResult {
  executions: number;
  emptyStartMs: number;
  fullStartMs: number;
  emptyAnswerMs: number;
  fullAnswerMs: number;
  queries: QueryCost[];
}

const ANSWERS = 100;
const STEP = `export default { name: 'Step', version: '1', type: 'action', run({ $ }) { $.respond({ status: 200, body: 'ok' }); } };`;

/**
 * Measures how many waiting and queued executions slow down the rest. It times each query that
 * searches them, a node's start, and a request that a workflow answers. It uses the engine's schema
 * and queries.
 */
export async function benchWaiting(undo: Undo, options: BenchArguments): Promise<boolean> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-waiting-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await bootSystem(undo, { dataDir });
  const flows = await makeWorkflows(first);
  await first.stop();
  const empty = await startAndAnswer(undo, dataDir, flows);
  const queries = await fillAndMeasure(undo, dataDir, { ...flows, executions: options.executions });
  const full = await startAndAnswer(undo, dataDir, flows);
  const result: WaitingResult = {
    executions: options.executions,
    emptyStartMs: empty.startMs,
    fullStartMs: full.startMs,
    emptyAnswerMs: empty.answerMs,
    fullAnswerMs: full.answerMs,
    queries,
  };
  const machine = describeMachine();
  if (options.json) console.log(JSON.stringify({ machine, options, result }, undefined, 2));
  else console.log(`${formatMachine(machine)}\n${formatResult(result)}`);
  return true;
}

interface Workflows {
  /** Workflow whose executions wait. */
  waitsId: string;
  /** Workflow whose executions are queued, one at a time. */
  queuedId: string;
  /** Path of a third one's endpoint, which answers itself. */
  answersPath: string;
}

async function makeWorkflows({ url, apiKey }: System): Promise<Workflows> {
  const make = async (body: Record<string, unknown>) => {
    const response = await fetch(`${url}/v1/workflows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ steps: [{ namespace: 'step', component_code: STEP }], ...body }),
    });
    const { data } = (await response.json()) as { data: { id: string; triggers: { endpoint_url: string }[] } };
    return data;
  };
  const waits = await make({ name: 'waits' });
  // Paused: a node that starts leaves them alone.
  const queued = await make({
    name: 'queued',
    settings: { concurrency: 1, throttle: { limit: 0, interval_seconds: 60 } },
  });
  const answers = await make({ name: 'answers', triggers: [{ type: 'http', custom_response: true }] });
  const answersPath = new URL(answers.triggers[0]?.endpoint_url ?? '').pathname;
  return { waitsId: waits.id, queuedId: queued.id, answersPath };
}

async function startAndAnswer(undo: Undo, dataDir: string, { answersPath }: Workflows) {
  const startedMs = performance.now();
  const system = await bootSystem(undo, { dataDir });
  const startMs = performance.now() - startedMs;
  const times: number[] = [];
  for (let i = 0; i < ANSWERS; i++) {
    const beganMs = performance.now();
    const response = await fetch(system.url + answersPath, { method: 'POST', body: '{}' });
    await response.text();
    if (response.status !== 200) throw new Error(`The workflow answered ${response.status}`);
    times.push(performance.now() - beganMs);
  }
  await system.stop();
  return { startMs, answerMs: times.toSorted((a, b) => a - b)[ANSWERS / 2] ?? 0 };
}

async function fillAndMeasure(
  undo: Undo,
  dataDir: string,
  plan: Pick<Filled, 'waitsId' | 'queuedId'> & { executions: number },
): Promise<QueryCost[]> {
  const server = await prepareDatabase({ dataDir, log: pino({ level: 'warn' }) });
  undo.push(() => server.stop());
  // One connection, so that its read statistics count only these queries.
  const db = openDatabase({ url: server.url, maxConnections: 1 });
  try {
    return await measureQueries(db.sql, await fillExecutions(db.sql, plan));
  } finally {
    await db.close();
    await server.stop();
  }
}

function formatResult(result: WaitingResult): string {
  const { executions, queries } = result;
  const ms = (value: number) => `${value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
  return [
    `${formatCount(executions)} executions wait, and ${formatCount(executions)} are queued`,
    line('start of a node', `${ms(result.fullStartMs)}, without them ${ms(result.emptyStartMs)}`),
    line('request to answer, p50', `${ms(result.fullAnswerMs)}, without them ${ms(result.emptyAnswerMs)}`),
    ...queries.map(
      ({ name, ms: time, scanned }) =>
        `  ${name.padEnd(58)}${ms(time).padStart(10)}${scanned === 0 ? '' : `   ${formatCount(scanned)} rows scanned`}`,
    ),
  ].join('\n');
}
