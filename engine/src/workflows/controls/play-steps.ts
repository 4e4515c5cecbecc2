import { isUtf8 } from 'node:buffer';
import { type HttpResponse, LIMITS } from '@headwater/shared';
import type {
  ExecutionError,
  TestedFlow,
  TestedResponse,
  TestedStep,
  WorkflowTestRecord,
} from '../../contract/index.ts';
import { readStoredLines } from '../../events/index.ts';
import type { StepRow } from '../../runs/index.ts';
import { visibleStep } from '../run/execution-context.ts';
import type { StepContext } from '../run/run-step.ts';
import { bytesOfSends, runSteps, type StepsEnd, type StepsHost, type StepsTask } from '../run/run-steps.ts';

/**
 * The shown part of a response in a test. An execution stores no responses, so maxRunOutputBytes
 * does not cover them. A hundred steps with megabytes each would stay in memory until the test
 * ends.
 */
export function testedResponse({ status, headers, body }: HttpResponse, immediate: boolean): TestedResponse {
  const isText = isUtf8(body);
  let end = Math.min(body.length, LIMITS.shownStepBytes);
  if (isText) while (isWithinCharacter(body[end])) end -= 1;
  // A copy: a view would keep all of it in memory.
  const beginning = new Uint8Array(body.subarray(0, end));
  return { status, headers, body: beginning, isText, isCut: end < body.length, immediate };
}

/** In UTF-8, of a byte: it is not the first of its character. */
function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

type Played = Pick<WorkflowTestRecord, 'status' | 'steps'>;

/**
 * Runs the steps of a test and keeps what they put out in memory alone. What would wait goes on at
 * once.
 */
export async function playSteps(
  context: StepContext,
  task: StepsTask,
  urls: ReturnType<StepsHost['urls']>,
): Promise<Played> {
  const rows: StepRow[] = [];
  const flows = new Map<StepRow, TestedFlow>();
  const responds = new Map<number, TestedResponse[]>();
  const host: StepsHost = {
    store(row) {
      rows.push(row);
      return true;
    },
    stored: async () => true,
    stepEnded: () => undefined,
    mayGoOn: async () => true,
    respond(response, immediate) {
      const position = task.from + rows.length;
      responds.set(position, [...(responds.get(position) ?? []), testedResponse(response, immediate)]);
    },
    urls: () => urls,
  };
  let end: StepsEnd;
  do {
    end = await runSteps(context, { ...task, ...progressOf(task, rows) }, host);
    if ('last' in end && end.last !== undefined) rows.push(end.last);
    const flow = await flowOf(end);
    if (flow !== undefined && 'last' in end && end.last !== undefined) flows.set(end.last, flow);
  } while (end.kind === 'waits' && task.from + rows.length < task.to);
  return {
    status: statusOf(end),
    steps: rows.map((row) => testedStep(row, flows.get(row), responds.get(row.position))),
  };
}

/** State for the steps after one that would have waited. */
function progressOf(task: StepsTask, rows: readonly StepRow[]): Pick<StepsTask, 'from' | 'done' | 'usedBytes'> {
  const bytes = rows.reduce(
    (sum, { exports, value = '', logs, sends }) =>
      sum + exports.length + value.length + logs.length + bytesOfSends(sends),
    0,
  );
  const done = rows.map(visibleStep);
  return { from: task.from + rows.length, done: [...task.done, ...done], usedBytes: task.usedBytes + bytes };
}

async function flowOf(end: StepsEnd): Promise<TestedFlow | undefined> {
  switch (end.kind) {
    case 'exited':
      return { kind: 'exit', ...(end.reason === undefined ? {} : { reason: end.reason }) };
    case 'waits':
      return { kind: end.why, ms: end.ms };
    case 'again': {
      const { ms, context, redactor } = end;
      if (context === undefined) return { kind: 'rerun', ms };
      return { kind: 'rerun', ms, context: (await redactor?.jsonInTurns(context)) ?? context };
    }
    default:
      return undefined;
  }
}

function statusOf(end: StepsEnd): Played['status'] {
  switch (end.kind) {
    case 'completed':
    case 'waits':
      return 'succeeded';
    case 'exited':
      return 'exited';
    case 'again':
      return 'rerun';
    case 'failed':
      return 'failed';
    case 'lost':
    case 'stopped':
      throw new Error(`A test that nothing can take over was ${end.kind}`);
  }
}

function testedStep(row: StepRow, flow: TestedFlow | undefined, responds: TestedStep['responds'] = []): TestedStep {
  return {
    namespace: row.namespace,
    status: row.status === 'failed' || row.status === 'continued' ? row.status : 'done',
    ...(row.props === undefined ? {} : { props: row.props.json, propsCut: JSON.parse(row.props.cut) as string[] }),
    ...(row.value === undefined ? {} : { value: row.value }),
    exports: row.exports,
    logs: readStoredLines(row.logs),
    ...(row.error === undefined ? {} : { error: JSON.parse(row.error) as ExecutionError }),
    ...(flow === undefined ? {} : { flow }),
    sends: row.sends.map(({ kind, payload }) => ({ kind, payload })),
    responds,
    startedAt: new Date(row.startedAtMs),
    endedAt: new Date(row.endedAtMs),
  };
}
