import { accountLimits, type ExceededLimit } from '@headwater/shared';
import { describeLimit } from '../bridge/exceeded-limit.ts';
import { FrameError } from '../bridge/frames.ts';
import type { FromSandbox, ReportedOutcome, ToSandbox } from '../bridge/messages.ts';
import { RunBudget } from '../bridge/run-budget.ts';
import { RunMessageLimits } from '../bridge/run-message-limits.ts';
import type { DescribeOutcome, RunFault } from '../sandbox-types.ts';
import { judgeOutline } from './judge-outline.ts';
import type { Blame, ProcessClient } from './run-client.ts';

type LimitNames = Partial<Record<ExceededLimit['name'], ExceededLimit['name']>>;

/**
 * The limits of the platform for a component that is only loaded, which stand in for the account's.
 */
const DESCRIBE_NAMES: LimitNames = {
  runCpuMs: 'describeCpuMs',
  hookWallMs: 'describeWallMs',
};

/** Platform limits for loading a component; the account's own limits apply only to runs. */
const LOAD_LIMITS = accountLimits();

export type LoadOutcome =
  | {
      kind: 'looked-at';
      outcome: DescribeOutcome;
      /** Stack of a failure as the guest reports it, not yet mapped to the author's file. */
      stack?: string | undefined;
    }
  /** Not loaded: too many loads of the tenant wait, or it waited too long. */
  | { kind: 'refused'; message: string; limit: ExceededLimit };

interface DescribeClientOptions {
  stepName: string | undefined;
  /**
   * Name of the memory limit: the platform's limit for loading, or the account's run limit if that
   * is higher.
   */
  memoryLimit: 'describeMemoryMb' | 'memoryMb';
  /** It is loaded again if another task may have ended its process. */
  mayRepeat: boolean;
}

/**
 * One `describe` as the engine's side keeps it. Nothing the component does while it loads reaches
 * anyone.
 */
export class DescribeClient implements ProcessClient {
  readonly #stepName: string | undefined;
  readonly #names: LimitNames;
  readonly #mayRepeat: boolean;
  readonly #resolve: (loaded: LoadOutcome | undefined) => void;
  readonly #budget = new RunBudget(LOAD_LIMITS);
  readonly #conduct = new RunMessageLimits('load', LOAD_LIMITS);
  settled = false;

  constructor(options: DescribeClientOptions, resolve: (loaded: LoadOutcome | undefined) => void) {
    const { stepName, memoryLimit, mayRepeat } = options;
    this.#stepName = stepName;
    this.#mayRepeat = mayRepeat;
    this.#names = { ...DESCRIBE_NAMES, memoryMb: memoryLimit };
    this.#resolve = resolve;
  }

  receive(message: FromSandbox, send: (message: ToSandbox) => void): boolean {
    if (this.settled || message.kind === 'fetch-abort') return false;
    this.#take(message, send);
    return true;
  }

  #take(message: FromSandbox, send: (message: ToSandbox) => void): void {
    switch (message.kind) {
      case 'described':
        return this.#settle({ kind: 'looked-at', outcome: judgeOutline(message.outline, this.#stepName) });
      case 'outcome':
        return this.#settle(this.#failure(message.outcome));
      case 'fetch': {
        this.#conduct.fetch(message.call, message.request.body?.byteLength ?? 0);
        const text = 'requests can be made during a run only, not while the component loads';
        return send({ kind: 'fetched', run: message.run, call: message.call, outcome: { ok: false, message: text } });
      }
      case 'db-get':
      case 'db-set':
      case 'data-store':
      case 'step-export':
      case 'step-send':
      case 'step-flow':
      case 'step-respond':
      case 'step-props':
      case 'respond':
      case 'emit':
        throw new FrameError('A component that is only loaded has no store and no output');
      case 'log': {
        const bytes = Buffer.byteLength(message.line.message);
        this.#conduct.log(bytes, message.line.limit);
        return this.#requireWithin(this.#budget.takeLogLine(bytes));
      }
      case 'fetch-abort':
      case 'ready':
      case 'pong':
      case 'condemned':
        return;
    }
  }

  /**
   * An end that may not be the component's fault says nothing about it: undefined, and the caller
   * tries again.
   */
  lose(fault: RunFault, blame: Blame): void {
    if (this.settled) return;
    const { limit, message } = fault;
    if (limit?.name === 'maxQueuedRunsPerTenant' || limit?.name === 'maxLoadWaitMs')
      return this.#settle({ kind: 'refused', message, limit });
    if (blame === 'nobody' || (blame === 'suspect' && this.#mayRepeat)) return this.#settle(undefined);
    const errors = [{ path: 'component_code', message: `${message} while it was loaded` }];
    this.#settle({ kind: 'looked-at', outcome: { ok: false, errors, ...this.#limitOf(fault) } });
  }

  // The process has checked the same limits before.
  #requireWithin(exceeded: ExceededLimit | undefined): void {
    if (exceeded !== undefined)
      throw new FrameError(`Loading went over a limit that its process should have kept: ${exceeded.name}`);
  }

  #settle(loaded: LoadOutcome | undefined): void {
    this.settled = true;
    this.#resolve(loaded);
  }

  #failure(outcome: ReportedOutcome): LoadOutcome | undefined {
    if (!outcome.ok && outcome.innocent) return undefined;
    const fault: RunFault = outcome.ok
      ? { code: 'INTERNAL', message: 'The component could not be read' }
      : outcome.fault;
    // V8 puts the place into the message of an early error, as `[hw:component:1:9]`; the place goes
    // with the error instead.
    const { limit } = fault;
    const said = limit === undefined ? fault.message : describeLimit(limit, this.#names[limit.name]);
    const message = said.replace(/ ?\[hw:component:\d+:\d+\]/, '');
    const errors = [{ path: 'component_code', message: `The component failed to load: ${message}` }];
    const refused: DescribeOutcome = { ok: false, errors, ...this.#limitOf(fault) };
    return { kind: 'looked-at', outcome: refused, stack: fault.stack };
  }

  #limitOf({ limit }: RunFault): { limit?: ExceededLimit } {
    return limit === undefined ? {} : { limit: { ...limit, name: this.#names[limit.name] ?? limit.name } };
  }
}
