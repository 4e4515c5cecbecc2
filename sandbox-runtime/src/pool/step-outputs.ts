import { type ExceededLimit, isLongJson, isShortJson } from '@headwater/shared';
import { FrameError } from '../bridge/frames.ts';
import type { FromSandbox } from '../bridge/messages.ts';
import type { RunBudget } from '../bridge/run-budget.ts';
import type { RunMessageLimits } from '../bridge/run-message-limits.ts';
import type { RunHost, StepHost } from '../sandbox.ts';
import type { RunRequest } from '../sandbox-types.ts';

export type StepMessage = Extract<
  FromSandbox,
  { kind: 'step-export' | 'step-send' | 'step-flow' | 'step-respond' | 'step-props' }
>;

/**
 * Passes on a step's output through `$`. Output that would break its host later is refused here,
 * because the process may be compromised.
 */
export class StepOutputs {
  readonly #host: StepHost | undefined;
  readonly #budget: RunBudget;
  readonly #conduct: RunMessageLimits;
  /** Too long to be read at once. */
  readonly #unread: string[] = [];

  constructor({ entry }: RunRequest, host: RunHost, budget: RunBudget, conduct: RunMessageLimits) {
    this.#host = entry.kind === 'step' ? host.step : undefined;
    this.#budget = budget;
    this.#conduct = conduct;
  }

  /**
   * Returns the exceeded limit, and then passes on nothing. Throws FrameError for a message that no
   * guest sends.
   */
  take(message: StepMessage): ExceededLimit | undefined {
    if (this.#host === undefined) throw new FrameError('A message of a step for a run that is not a step');
    const exceeded = this.#count(message);
    if (exceeded === undefined) handOn(this.#host, message);
    return exceeded;
  }

  /** Takes the step's return value. False if it is not JSON. */
  takeReturned(text: string): boolean {
    const isJson = isShortJson(text);
    if (isJson === undefined) this.#unread.push(text);
    return isJson !== false;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /**
   * Reads what could not be read at once. False where something of it is no JSON: nothing of the
   * step can be stored. Never rejects.
   */
  async readRest(): Promise<boolean> {
    for (const text of this.#unread.splice(0)) if (!(await isLongJson(text))) return false;
    return true;
  }

  #keepUnread(isJson: boolean | undefined, text: string): void {
    if (isJson === undefined) this.#unread.push(text);
  }

  #count(message: StepMessage): ExceededLimit | undefined {
    switch (message.kind) {
      case 'step-export':
        this.#keepUnread(this.#conduct.stepValue(message.valueJson), message.valueJson);
        return this.#budget.takeExport(message.name, message.valueJson);
      case 'step-send':
        this.#keepUnread(this.#conduct.stepValue(message.call.payload), message.call.payload);
        return this.#budget.takeSend(Buffer.byteLength(message.call.payload));
      case 'step-flow': {
        const { action } = message;
        const context = action.kind === 'rerun' ? (action.context ?? '') : '';
        this.#keepUnread(this.#conduct.stepFlow(action), context);
        return this.#budget.takeBytes(Buffer.byteLength(context));
      }
      case 'step-respond':
        this.#conduct.stepRespond();
        return this.#budget.takeBytes(message.response.body.byteLength);
      case 'step-props':
        // The node records them, not the step: they are no output of it.
        this.#conduct.stepProps(message.propsJson);
        return undefined;
    }
  }
}

function handOn(host: StepHost, message: StepMessage): void {
  switch (message.kind) {
    case 'step-export':
      return host.export(message.name, message.valueJson);
    case 'step-send':
      return host.send(message.call);
    case 'step-flow':
      return host.flow(message.action);
    case 'step-respond':
      return host.respond(message.response, message.immediate);
    case 'step-props':
      return host.props(message.propsJson, message.cutJson);
  }
}
