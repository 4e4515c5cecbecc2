import type { AccountLimits, EmittedEvent, ExceededLimit, LogLine } from '@headwater/shared';
import type { FromSandbox, ReportedOutcome, ToSandbox } from '../bridge/messages.ts';
import { describeLimit, limitFault } from '../bridge/exceeded-limit.ts';
import { FrameError } from '../bridge/frames.ts';
import { RunBudget } from '../bridge/run-budget.ts';
import { RunMessageLimits } from '../bridge/run-message-limits.ts';
import type { RunHost } from '../sandbox.ts';
import type { FetchOutcome, RunFault, RunOutcome, RunRequest } from '../sandbox-types.ts';
import { judgeAnswer } from './judge-answer.ts';
import { RunStores } from './run-stores.ts';
import { RunTraffic } from './run-traffic.ts';
import { StepOutputs } from './step-outputs.ts';
import { wasStarved } from '../bridge/was-starved.ts';

/**
 * Cause of a task that ended without an answer of its process. `run`: its own limit or breach.
 * `suspect`: the process ended for an unknown reason, and it never ran another task. `nobody`:
 * other tasks ran in it, or the node ended it.
 */
export type Blame = 'run' | 'suspect' | 'nobody';

/** The node's side of one task in a sandbox process. */
export interface ProcessClient {
  /**
   * A message about this task. Answers whether it had any effect. Throws FrameError for one that
   * breaks the protocol. `done` is called when a request that it opened is done, also after the end
   * of the task.
   */
  receive(message: FromSandbox, send: (message: ToSandbox) => void, done: () => void): boolean;
  /** The task ends without a word of the process. Idempotent; does nothing after an outcome. */
  lose(fault: RunFault, blame: Blame): void;
  /** The last open request of an ended task is done: nothing refers to it any more. */
  readonly settled: boolean;
}

/**
 * The engine's side of one run: passes its output to the host in order, and its outcome at the end.
 */
export class RunClient implements ProcessClient {
  readonly #request: RunRequest;
  readonly #host: RunHost;
  readonly #resolve: (outcome: RunOutcome) => void;
  readonly #limits: AccountLimits;
  readonly #budget: RunBudget;
  readonly #conduct: RunMessageLimits;
  readonly #fetches = new Map<number, AbortController>();
  #startedAtMs = performance.now();
  readonly #traffic: RunTraffic;
  readonly #stores: RunStores;
  readonly #step: StepOutputs;
  #over = false;

  constructor(request: RunRequest, host: RunHost, resolve: (outcome: RunOutcome) => void) {
    this.#request = request;
    this.#limits = request.limits.account;
    this.#budget = new RunBudget(this.#limits);
    this.#conduct = new RunMessageLimits(request.entry.kind, this.#limits);
    this.#host = host;
    this.#traffic = new RunTraffic(this.#limits);
    this.#stores = new RunStores(request, host);
    this.#step = new StepOutputs(request, host, this.#budget, this.#conduct);
    this.#resolve = resolve;
  }

  /** It is given to a process: what came before was waiting. */
  begin(): void {
    this.#startedAtMs = performance.now();
  }

  get settled(): boolean {
    return this.#over && this.#fetches.size === 0 && this.#stores.size === 0;
  }

  receive(message: FromSandbox, send: (message: ToSandbox) => void, done: () => void): boolean {
    if (message.kind === 'fetch-abort') return this.#abort(message.call);
    if (this.#over) return false;
    this.#take(message, send, done);
    return true;
  }

  #take(message: FromSandbox, send: (message: ToSandbox) => void, done: () => void): void {
    switch (message.kind) {
      case 'fetch-abort':
        return;
      case 'emit':
        return this.#emit(message.event);
      case 'log':
        return this.#log(message.line);
      case 'respond':
        this.#conduct.respond();
        this.#requireWithin(this.#budget.takeBytes(message.response.body.byteLength));
        return this.#host.respond(message.response);
      case 'db-set':
        this.#conduct.dbSet();
        this.#requireWithin(this.#budget.takeStored(message.key, message.valueJson));
        return this.#host.dbSet(message.key, message.valueJson);
      case 'db-get':
        return this.#read(message, send);
      case 'fetch':
        return this.#fetch(message, send, done);
      case 'data-store':
        return this.#askStore(message, send, done);
      case 'step-export':
      case 'step-send':
      case 'step-flow':
      case 'step-respond':
      case 'step-props':
        return this.#requireWithin(this.#step.take(message));
      case 'outcome':
        return this.#finish(message.outcome);
      case 'described':
        throw new FrameError('A run was described');
      case 'ready':
      case 'pong':
      case 'condemned':
        return;
    }
  }

  lose(fault: RunFault, blame: Blame): void {
    for (const controller of this.#fetches.values()) controller.abort();
    this.#stores.abort();
    if (this.#over) return;
    this.#over = true;
    const wallMs = performance.now() - this.#startedAtMs;
    const { wallLimit, wallMs: maxWallMs } = this.#request.limits;
    const isLate = fault.code === 'WALL_LIMIT' && blame === 'run';
    const own = isLate ? limitFault({ name: wallLimit, value: maxWallMs, used: Math.ceil(wallMs) }) : fault;
    const diedAlone = blame === 'suspect' ? { diedAlone: true as const } : {};
    this.#resolve({ ok: false, fault: own, innocent: blame !== 'run', ...diedAlone, cpuMs: 0, wallMs });
  }

  #log(line: LogLine): void {
    const bytes = Buffer.byteLength(line.message);
    this.#conduct.log(bytes, line.limit);
    this.#requireWithin(this.#budget.takeLogLine(bytes));
    this.#host.log(line);
  }

  #emit(event: EmittedEvent): void {
    this.#conduct.emit(event);
    const { data, id = '', name = '', summary = '' } = event;
    this.#requireWithin(this.#budget.takeEmit(Buffer.byteLength(data), Buffer.byteLength(`${id}${name}${summary}`)));
    this.#host.emit(event);
  }

  #read(message: Extract<FromSandbox, { kind: 'db-get' }>, send: (message: ToSandbox) => void): void {
    this.#conduct.dbGet(message.key);
    const { run, call } = message;
    const answer = (text: string): void => {
      this.#conduct.dbAnswered();
      if (!this.#over) send({ kind: 'db-value', run, call, answer: text });
    };
    this.#host.dbGet(message.key).then(
      (valueJson) => answer(valueJson === undefined ? 'u' : `v${valueJson}`),
      // A host must not reject. It logs its own error; an unanswered read would block the isolate.
      () => answer('ethe store did not answer'),
    );
  }

  #abort(call: number): boolean {
    const controller = this.#fetches.get(call);
    if (controller === undefined || controller.signal.aborted) return false;
    controller.abort();
    return true;
  }

  #fetch(message: Extract<FromSandbox, { kind: 'fetch' }>, send: (message: ToSandbox) => void, done: () => void): void {
    const { run, call, request } = message;
    const bodyBytes = request.body?.byteLength ?? 0;
    this.#conduct.fetch(call, bodyBytes);
    const exceeded = this.#traffic.open(bodyBytes, this.#fetches.size);
    if (exceeded !== undefined) return send({ kind: 'fetched', run, call, outcome: refusal(exceeded) });
    const controller = new AbortController();
    this.#fetches.set(call, controller);
    const settle = (outcome: FetchOutcome): void => {
      this.#fetches.delete(call);
      if (!controller.signal.aborted) send({ kind: 'fetched', run, call, outcome });
      done();
    };
    this.#host
      .fetch({ ...request, meter: this.#traffic }, controller.signal)
      .then(settle, () => settle({ ok: false, message: 'the request could not be made' }));
  }

  #askStore(
    message: Extract<FromSandbox, { kind: 'data-store' }>,
    send: (message: ToSandbox) => void,
    done: () => void,
  ): void {
    const { run, call, asked } = message;
    this.#conduct.dataStore(call, asked);
    const ask = async (): Promise<void> => {
      const answer = await this.#stores.ask(asked);
      this.#conduct.storeAnswered(call);
      if (!this.#over) send({ kind: 'store-answer', run, call, answer });
      done();
    };
    void ask();
  }

  #finish(outcome: ReportedOutcome): void {
    const ended = outcome.ok ? this.#answered(outcome) : this.#failed(outcome);
    this.#over = true;
    this.#stores.abort();
    if (!this.#step.hasUnread) return this.#resolve(ended);
    void this.#step.readRest().then((isJson) => this.#resolve(isJson ? ended : unreadable(ended)));
  }

  /**
   * An isolate that ended without a culprit: in a process of its own there is only one suspect. A
   * run that met its limit while it got no processor ended nothing.
   */
  #failed(outcome: Extract<ReportedOutcome, { ok: false }>): RunOutcome {
    const mayBeToBlame = outcome.innocent && !wasStarved(outcome);
    return mayBeToBlame && this.#request.alone ? { ...outcome, diedAlone: true } : outcome;
  }

  #answered({ result: text, ...outcome }: Extract<ReportedOutcome, { ok: true }>): RunOutcome {
    const { entry } = this.#request;
    this.#conduct.done(text);
    if (entry.kind === 'step' && text !== undefined) {
      this.#requireWithin(this.#budget.takeResult(Buffer.byteLength(text)));
      return this.#step.takeReturned(text) ? { ...outcome, result: text } : unreadable(outcome);
    }
    const answer = judgeAnswer(entry, text);
    if (answer === undefined) return outcome;
    if (answer.ok) return { ...outcome, result: answer.result };
    const { message, limit } = answer;
    const fault: RunFault = { code: 'COMPONENT_ERROR', message, ...(limit === undefined ? {} : { limit }) };
    return { ...outcome, ok: false, fault, innocent: false };
  }

  // The guest and its process have checked the same limits before: going over them here is no
  // mistake of a component.
  #requireWithin(exceeded: ExceededLimit | undefined): void {
    if (exceeded === undefined) return;
    const { runId } = this.#request;
    throw new FrameError(`Run ${runId} went over a limit that its process should have kept: ${exceeded.name}`);
  }
}

/** It comes from the sandbox: no guest says that. */
function unreadable({ cpuMs, wallMs }: Pick<RunOutcome, 'cpuMs' | 'wallMs'>): RunOutcome {
  const fault: RunFault = { code: 'COMPONENT_ERROR', message: 'The outputs of the step could not be read' };
  return { ok: false, fault, innocent: false, cpuMs, wallMs };
}

function refusal(limit: ExceededLimit): FetchOutcome {
  return { ok: false, message: describeLimit(limit), limit };
}
