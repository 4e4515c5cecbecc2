import { limitFault } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import { failsEachTime, isDataError } from '../../db/index.ts';
import { leaseOf } from '../../events/index.ts';
import type { ExecutionWait, StepRow } from '../../runs/index.ts';
import { type ClientAnswer, createClientAnswer, noAnswer } from './client-answer.ts';
import { sealContext } from './execution-context.ts';
import type { ExecutionHold } from './execution-hold.ts';
import type { Execution } from './execution.ts';
import { createPartCommits, type FinalOutcome, type PartCommits } from './part-commits.ts';
import { partWallLimit } from './part-wall-limit.ts';
import { retriesOf, runSteps, type StepsEnd, type StepsHost } from './run-steps.ts';
import type { ExecutionRunnerOptions } from './runner-options.ts';
import { stepErrorJson } from './step-error.ts';

const FIRST_MS = 5_000;
const GROWTH = 4;
const MAX_MS = 6 * 3600 * 1000;
/** Steps that failed together do not come back together. */
const JITTER = 0.2;

/**
 * Pause of a step after `failures` failures: 5 s, 20 s, 80 s, … up to 6 hours, plus or minus a
 * fifth.
 */
function retryPauseMs(failures: number, random: () => number = Math.random): number {
  const pauseMs = Math.min(FIRST_MS * GROWTH ** (failures - 1), MAX_MS);
  return Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random()));
}

export interface Turn {
  /** The sandbox is done; see DispatcherOptions.run. */
  ran: () => void;
  again: () => Promise<boolean>;
  hold: ExecutionHold;
}

interface Part {
  options: ExecutionRunnerOptions;
  execution: Execution;
  commits: PartCommits;
  client: ClientAnswer;
}

type Failed = Extract<StepsEnd, { kind: 'failed' }>;

/** Runs the rest of an execution, until it ends or waits. */
export async function runExecution(options: ExecutionRunnerOptions, execution: Execution, turn: Turn): Promise<void> {
  const commits = createPartCommits(options, execution);
  const part: Part = { options, execution, commits, client: createClientAnswer(execution.invocation) };
  let ended = await runToEnd(part, turn);
  if (ended.ok) return;
  options.log.error(
    { execution: execution.key.id, err: ended.error },
    'the outputs of an execution could not be stored',
  );
  commits.forgetSteps();
  ended = await tryTo(() => settle(part, failHere(part)), failsEachTime);
  if (!ended.ok) await finishBare(part);
}

type Tried<T> = { ok: true; value: T } | { ok: false; error: unknown };

/**
 * Rejects with an error that is not `expected`: given back, the execution is tried again some other
 * time.
 */
async function tryTo<T>(work: () => Promise<T>, expected: (error: unknown) => boolean): Promise<Tried<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!expected(error)) throw error;
    return { ok: false, error };
  }
}

async function runToEnd(part: Part, turn: Turn): Promise<Tried<void>> {
  const ran = await tryTo(() => runSteps(part.options, taskOf(part), hostOf(part, turn)), isDataError);
  // Given back, it would come to the same end again.
  return ran.ok ? tryTo(() => settle(part, ran.value), failsEachTime) : ran;
}

function failHere(part: Part): StepsEnd {
  return failNext(part, 'INTERNAL', 'The outputs of the step could not be stored');
}

/**
 * Its end and nothing that it brings: not tried again, what could not be stored is in the steps
 * before as well.
 */
async function finishBare(part: Part): Promise<void> {
  part.commits.forgetSteps();
  part.commits.forgetOutput();
  const fault = { code: 'INTERNAL' as const, message: 'The outputs of the execution could not be stored' };
  const end = failNext(part, fault.code, fault.message);
  if (end.kind !== 'failed') {
    return finish(part, undefined, { status: 'failed', error: JSON.stringify(fault), failure: { fault } });
  }
  const { last, step } = end;
  return finish(part, last, { status: 'failed', error: stepErrorJson(fault, step), failure: { fault, step } });
}

function taskOf({ execution }: Part) {
  const { deployment, invocation, start, key, from, done, again, account, usedBytes } = execution;
  return {
    deployment,
    executionId: key.id,
    traceId: start.traceId,
    event: start.event,
    context: start.context,
    done,
    from,
    to: deployment.steps.length,
    ...(again === undefined ? {} : { again }),
    account,
    usedBytes,
    // A part after a wait, or after a node has failed, has the whole of the time again.
    wall: partWallLimit(deployment, account, invocation.kind),
    jit: false,
  };
}

function hostOf({ options, execution: { key, invocation }, commits, client }: Part, turn: Turn): StepsHost {
  return {
    store: commits.store,
    stored: async () => (await commits.stored()) && turn.hold.isOurs(),
    lost: turn.hold.lost,
    stepEnded: turn.ran,
    mayGoOn: turn.again,
    respond: client.respond,
    live(namespace) {
      const { accountId, workflowId: emitterId } = key;
      return options.live.begin({ accountId, emitterId, lease: leaseOf(invocation), namespace });
    },
    urls(position, runs) {
      const path = `${key.id}/${options.tokens.make(key.id, { position, runs })}`;
      return { resumeUrl: `${options.publicUrl}/resume/${path}`, cancelUrl: `${options.publicUrl}/cancel/${path}` };
    },
  };
}

/** Writes what the steps have come to, and tells the client. */
async function settle(part: Part, end: StepsEnd): Promise<void> {
  const { options, execution, client } = part;
  switch (end.kind) {
    case 'completed':
      return finish(part, end.last, { status: 'succeeded' });
    case 'exited':
      return finish(part, end.last, { status: 'exited', ...(end.reason === undefined ? {} : { reason: end.reason }) });
    case 'waits':
      return park(part, end.last, { kind: end.why, runs: end.last.runs, failures: 0 }, end.ms);
    case 'again': {
      const { runs, failures } = end.run;
      return park(part, end.last, { kind: 'rerun', runs, failures, ...contextOf(part, end) }, end.ms);
    }
    case 'failed':
      return fail(part, end);
    case 'lost':
      return leave(part);
    case 'stopped':
      client.leaves('The node stops; the execution goes on later');
      await options.release([execution.invocation]);
  }
}

/** It is no longer this node's. */
function leave({ options, execution, client }: Part): Promise<void> {
  return client.leavesTakenOver(() => options.isGone(execution.key.id));
}

async function finish(part: Part, last: StepRow | undefined, outcome: FinalOutcome): Promise<void> {
  const { commits, client, execution } = part;
  const { committed, error } = await commits.finish(last, outcome);
  if (!committed) await leave(part);
  else if (outcome.status === 'exited' && error === undefined) client.exited(execution.key.id);
  else client.ended(noAnswer(execution.key.id, error !== undefined));
}

async function park(
  part: Part,
  last: StepRow,
  wait: Omit<ExecutionWait, 'position' | 'token' | 'wakeAtMs' | 'bytes'>,
  ms: number,
): Promise<void> {
  const { options, execution, commits, client } = part;
  const parked = await commits.park(last, { ...wait, wakeAtMs: options.nowMs() + ms });
  if (parked === true) client.waits(execution.key.id);
  else if (parked === false) return leave(part);
  else return failOver(part, last, parked);
}

/**
 * It has no room to wait. A step that had failed, and was to be tried again, keeps its own reason.
 */
async function failOver(part: Part, last: StepRow, limit: ExceededLimit): Promise<void> {
  const step = part.execution.deployment.steps[last.position];
  const fault = limitFault(limit);
  const error = last.error ?? (step === undefined ? JSON.stringify(fault) : stepErrorJson(fault, step));
  const failure = { fault, ...(step === undefined ? {} : { step }) };
  return finish(part, { ...last, status: 'failed', error }, { status: 'failed', error, failure });
}

/** The step is tried again as often as it, or the settings, say. */
async function fail(part: Part, { last, fault, step, redactor, run }: Failed): Promise<void> {
  const failures = run.failures + 1;
  if (failures > retriesOf(step, part.execution.deployment) || fault.code === 'RUN_ABANDONED') {
    const failure = { fault, step, redactor };
    return finish(part, last, { status: 'failed', error: stepErrorJson(fault, step), failure });
  }
  const { runs, callback } = run;
  const given = { ...contextOf(part, run), ...(callback === undefined ? {} : { callback }) };
  const wait = { kind: 'retry' as const, runs, failures, ...given };
  return park(part, last, wait, retryPauseMs(failures));
}

function contextOf({ options, execution }: Part, { context }: { context?: string | undefined }): { context?: string } {
  return context === undefined ? {} : { context: sealContext(options.sealer, execution.key.accountId, context) };
}

/** The next step fails, and nothing of it is kept. */
function failNext({ options, execution, commits }: Part, code: 'INTERNAL', message: string): StepsEnd {
  const { position, run } = commits.next();
  const step = execution.deployment.steps[position];
  // Behind the last step nothing is run that could fail.
  if (step === undefined) return { kind: 'completed', last: undefined };
  const fault = { code, message };
  const last: StepRow = {
    position,
    namespace: step.namespace,
    status: 'failed',
    runs: run.runs,
    value: undefined,
    exports: '{}',
    logs: '[]',
    liveLines: 0,
    sends: [],
    props: undefined,
    error: stepErrorJson(fault, step),
    startedAtMs: options.nowMs(),
    endedAtMs: options.nowMs(),
  };
  return { kind: 'failed', last, step, fault, redactor: undefined, run };
}
