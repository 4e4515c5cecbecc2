import type { ExceededLimit } from '@headwater/shared';
import { describeLimit } from '../protocol/exceeded-limit.ts';
import { FrameError } from '../protocol/frames.ts';
import type { FromSandbox, ReportedOutcome } from '../protocol/guest-to-host.ts';
import type { ToSandbox } from '../protocol/host-to-guest.ts';
import type { ComponentBundle, DescribeOutcome, RunFault } from '../sandbox.ts';
import { judgeOutline } from './judge-outline.ts';
import { placeOf } from './map-stack.ts';
import type { ProcessClient } from './run-client.ts';

/** The limits of the platform for a component that is only loaded, which stand in for the account's. */
const DESCRIBE_NAMES: Partial<Record<ExceededLimit['name'], ExceededLimit['name']>> = {
  runCpuMs: 'describeCpuMs',
  hookWallMs: 'describeWallMs',
  memoryMb: 'describeMemoryMb',
};

/** One `describe` as the engine's side keeps it. Nothing the component does while it loads reaches anyone. */
export class DescribeClient implements ProcessClient {
  readonly #bundle: ComponentBundle;
  readonly #stepName: string | undefined;
  readonly #resolve: (outcome: DescribeOutcome | undefined) => void;
  settled = false;

  constructor(
    bundle: ComponentBundle,
    stepName: string | undefined,
    resolve: (outcome: DescribeOutcome | undefined) => void,
  ) {
    this.#bundle = bundle;
    this.#stepName = stepName;
    this.#resolve = resolve;
  }

  receive(message: FromSandbox, send: (message: ToSandbox) => void): boolean {
    if (this.settled) return false;
    this.#take(message, send);
    return message.kind === 'described' || message.kind === 'outcome';
  }

  #take(message: FromSandbox, send: (message: ToSandbox) => void): void {
    switch (message.kind) {
      case 'described':
        return this.#settle(judgeOutline(message.outline, this.#stepName));
      case 'outcome':
        return this.#settle(this.#failure(message.outcome));
      case 'fetch': {
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
      case 'respond':
      case 'emit':
        throw new FrameError('A component that is only loaded has no store and no output');
      case 'log':
      case 'fetch-abort':
      case 'ready':
      case 'pong':
      case 'condemned':
        return;
    }
  }

  /** An end that may not be the component's fault says nothing about it: undefined, and the caller tries again. */
  lose(fault: RunFault, innocent: boolean): void {
    if (this.settled) return;
    if (innocent) return this.#settle(undefined);
    const errors = [{ path: 'component_code', message: `${fault.message} while it was loaded` }];
    this.#settle({ ok: false, errors, ...limitOf(fault) });
  }

  #settle(outcome: DescribeOutcome | undefined): void {
    this.settled = true;
    this.#resolve(outcome);
  }

  #failure(outcome: ReportedOutcome): DescribeOutcome | undefined {
    if (!outcome.ok && outcome.innocent) return undefined;
    const fault: RunFault = outcome.ok
      ? { code: 'INTERNAL', message: 'The component could not be read' }
      : outcome.fault;
    const place = fault.stack === undefined ? undefined : placeOf(this.#bundle.sourceMap, fault.stack);
    // V8 puts the place into the message of an early error, as `[hw:component:1:9]`; the place goes with the error instead.
    const { limit } = fault;
    const said = limit === undefined ? fault.message : describeLimit(limit, DESCRIBE_NAMES[limit.name]);
    const message = said.replace(/ ?\[hw:component:\d+:\d+\]/, '');
    return {
      ok: false,
      errors: [{ path: 'component_code', message: `The component failed to load: ${message}`, ...place }],
      ...limitOf(fault),
    };
  }
}

function limitOf({ limit }: RunFault): { limit?: ExceededLimit } {
  return limit === undefined ? {} : { limit: { ...limit, name: DESCRIBE_NAMES[limit.name] ?? limit.name } };
}
