import type { BenchArguments } from './arguments.ts';
import { runLoad } from './load/load-phase.ts';
import { describeMachine } from './machine.ts';
import { DBOS } from './peers/dbos.ts';
import { HEADWATER } from './peers/headwater.ts';
import { RESTATE } from './peers/restate.ts';
import { type StartedSystem, STEP_COUNTS, type WorkflowSystem } from './peers/workflow-system.ts';
import type { Undo } from './undo.ts';
import { formatWorkflows, type WorkflowFigures } from './workflow-report.ts';

const IN_FLIGHT = [1, 20, 64] as const;
const WARM_UP_MS = 3_000;
const PHASE_MS = 6_000;
const MAX_REQUESTS = 200_000;
const BODY = '{"n":10}';
const RESULT = 55;

/** Executions of the same workflow by this system and by two others, one system at a time. */
export async function benchWorkflow(undo: Undo, options: BenchArguments): Promise<boolean> {
  const systems = options.baselines ? [HEADWATER, RESTATE, DBOS] : [HEADWATER];
  const figures: WorkflowFigures[] = [];
  for (const system of systems) figures.push(...(await measure(undo, system)));
  const machine = describeMachine();
  console.log(options.json ? JSON.stringify({ machine, figures }, undefined, 2) : formatWorkflows(machine, figures));
  return figures.every(({ failed }) => failed === 0);
}

async function measure(undo: Undo, system: WorkflowSystem): Promise<WorkflowFigures[]> {
  const started = await system.start(undo);
  undo.push(() => started.stop());
  const figures: WorkflowFigures[] = [];
  for (const steps of STEP_COUNTS) {
    await checkAnswer(started, steps);
    await load(started, steps, Math.max(...IN_FLIGHT), WARM_UP_MS);
    for (const inFlight of IN_FLIGHT) {
      const { statuses, elapsedMs, answers } = await load(started, steps, inFlight, PHASE_MS);
      const ok = statuses[200] ?? 0;
      const failed = Object.values(statuses).reduce((sum, count) => sum + count, 0) - ok;
      figures.push({ system: system.name, steps, inFlight, perSecond: (ok / elapsedMs) * 1_000, failed, answers });
    }
  }
  await started.stop();
  return figures;
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
