import { type AccountLimits, type EmittedEvent, isShortJson, LIMITS, type LogLine } from '@headwater/shared';
import type { DataStoreCall, FlowAction, RunEntry } from '../sandbox-types.ts';
import { isBuiltInChannel } from './built-in-channels.ts';
import { FrameError } from './frames.ts';
import type { EntryName } from './messages.ts';

type MessageLimits = Pick<
  AccountLimits,
  | 'maxLogLinesPerRun'
  | 'maxLogLineBytes'
  | 'maxDbReadsPerRun'
  | 'maxFetchRequestBytes'
  | 'maxFetchesPerRun'
  | 'maxDataStoreCallsPerRun'
  | 'maxDataStoreValueBytes'
>;

/** Reads of `$.service.db` that one run has open: an isolate waits for each. */
const MAX_OPEN_READS = 4;
/** Calls on data stores, more than a guest has under way at a time. */
const MAX_OPEN_STORE_CALLS = 16;

/**
 * Kind of task, as far as it decides which messages are allowed. `load` is not a run; `form` has no
 * output except its answer.
 */
type Task = 'load' | 'form' | 'step' | 'other';

/**
 * Limits of one run's messages besides its budget: length, count and order. Process and host each
 * keep one. When a method throws FrameError, the process ends only that run. If the message reached
 * the host, the host would end the process with all its runs. Sizes are UTF-8 bytes.
 */
export class RunMessageLimits {
  readonly #task: Task;
  readonly #limits: MessageLimits;
  readonly #fetches = new Set<number>();
  readonly #openStoreCalls = new Set<number>();
  #storeCalls = 0;
  #reads = 0;
  #openReads = 0;
  #hasResponded = false;
  #hasStepResponded = false;
  #hasFlow = false;
  #hasProps = false;

  constructor(entry: EntryName | RunEntry['kind'] | 'load', limits: MessageLimits) {
    this.#task = taskOf(entry);
    this.#limits = limits;
  }

  emit({ id, name = '', summary = '' }: Omit<EmittedEvent, 'data'>): void {
    this.#requireOutput();
    demand(String(id ?? '').length <= LIMITS.maxEventIdChars, 'An event id over its limit');
    demand(name.length <= LIMITS.maxChannelChars, 'A name of a channel over its limit');
    demand(!isBuiltInChannel(name), 'An event on a built-in channel');
    demand(summary.length <= LIMITS.maxSummaryChars, 'A summary over its limit');
  }

  log(bytes: number, limit: LogLine['limit']): void {
    demand(bytes <= this.#limits.maxLogLineBytes, 'A log line over its limit');
    if (limit === undefined) return;
    const { name, value, used } = limit;
    demand(value === this.#limits[name] && used > value, 'A log line with a limit that its run does not have');
  }

  /** The guest sends only its first answer. */
  respond(): void {
    this.#requireOutput();
    demand(!this.#hasResponded, 'A second answer of a run');
    this.#hasResponded = true;
  }

  dbSet(): void {
    this.#requireOutput();
  }

  /** `dbAnswered` is to be called when it has its answer. */
  dbGet(key: string): void {
    this.#requireRun();
    this.#reads += 1;
    demand(Buffer.byteLength(key) <= LIMITS.maxDbKeyBytes, 'A key of $.service.db over its limit');
    demand(this.#reads <= this.#limits.maxDbReadsPerRun, 'More reads of $.service.db than a run has');
    demand(this.#openReads < MAX_OPEN_READS, 'More open reads of $.service.db than an isolate can wait for');
    this.#openReads += 1;
  }

  dbAnswered(): void {
    this.#openReads -= 1;
  }

  /**
   * One under the number of another would take its place among those that are open, and both count
   * as one.
   */
  fetch(call: number, bodyBytes: number): void {
    demand(!this.#fetches.has(call), 'Two requests with the same number');
    this.#fetches.add(call);
    demand(this.#fetches.size <= this.#limits.maxFetchesPerRun, 'More requests than a run makes');
    demand(bodyBytes <= this.#limits.maxFetchRequestBytes, 'A body of a request over its limit');
  }

  /** `storeAnswered` is to be called when it has its answer. */
  dataStore(call: number, { key = '', valueJson = '', cursor = '' }: DataStoreCall): void {
    this.#requireRun();
    demand(!this.#openStoreCalls.has(call), 'Two calls on data stores with the same number');
    this.#openStoreCalls.add(call);
    this.#storeCalls += 1;
    demand(this.#openStoreCalls.size <= MAX_OPEN_STORE_CALLS, 'More open calls on data stores than a run has');
    demand(this.#storeCalls <= this.#limits.maxDataStoreCallsPerRun, 'More calls on data stores than a run has');
    demand(Buffer.byteLength(key) <= LIMITS.maxDataStoreKeyBytes, 'A key of a data store over its limit');
    demand(Buffer.byteLength(cursor) <= 4 * LIMITS.maxDataStoreKeyBytes, 'An invalid cursor');
    demand(
      Buffer.byteLength(valueJson) <= this.#limits.maxDataStoreValueBytes,
      'A value for a data store over its limit',
    );
  }

  get openStoreCalls(): number {
    return this.#openStoreCalls.size;
  }

  /** False for a call that is not open. */
  storeAnswered(call: number): boolean {
    return this.#openStoreCalls.delete(call);
  }

  /** A value of `$.export` or what `$.send` was given. Answers as `isShortJson`. */
  stepValue(json: string): boolean | undefined {
    this.#requireStep();
    return checkedJson(json);
  }

  /** A step goes on in one way. Answers as `isShortJson`, of the context of a rerun. */
  stepFlow(action: FlowAction): boolean | undefined {
    this.#requireStep();
    demand(!this.#hasFlow, 'A step with two outcomes');
    this.#hasFlow = true;
    return action.kind === 'rerun' && action.context !== undefined ? checkedJson(action.context) : true;
  }

  stepRespond(): void {
    this.#requireStep();
    demand(!this.#hasStepResponded, 'A second answer of a step');
    this.#hasStepResponded = true;
  }

  /** The evaluated props of a step, once. */
  stepProps(json: string): void {
    this.#requireStep();
    demand(!this.#hasProps, 'Evaluated props for a second time');
    this.#hasProps = true;
    demand(json.length <= LIMITS.recordedPropsChars, 'Evaluated props over their limit');
    // It is put together with the props that have no expression.
    demand(json.startsWith('{'), 'Evaluated props that are not an object');
    checkedJson(json);
  }

  /** The run succeeded, with the result of its entry. */
  done(result: string | undefined): void {
    this.#requireRun();
    if (this.#task === 'step') return;
    demand((this.#task === 'form') === (result !== undefined), 'An answer without a question, or a missing answer');
  }

  #requireRun(): void {
    demand(this.#task !== 'load', 'A component that is only loaded has no store and no output');
  }

  /** A `form` task keeps no output except its answer. */
  #requireOutput(): void {
    this.#requireRun();
    demand(this.#task !== 'form', 'A form that is filled in has no output');
  }

  #requireStep(): void {
    demand(this.#task === 'step', 'A message of a step for a run that is not a step');
  }
}

function taskOf(entry: EntryName | RunEntry['kind'] | 'load'): Task {
  if (entry === 'options' || entry === 'additional-props' || entry === 'transform') return 'form';
  return entry === 'load' || entry === 'step' ? entry : 'other';
}

/** Must be JSON: it is later joined with other texts, and readers outside its tenant parse it. */
function checkedJson(json: string): boolean | undefined {
  const isJson = isShortJson(json);
  demand(isJson !== false, 'A value that is not JSON');
  return isJson;
}

function demand(holds: boolean, breach: string): void {
  if (!holds) throw new FrameError(breach);
}
