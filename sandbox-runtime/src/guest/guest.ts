import type { RunProp } from '@headwater/shared';
import type { FlowAction } from '../sandbox-types.ts';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import type { GuestCall } from '../bridge/messages.ts';
import { readStepInput } from '../bridge/step-input.ts';
import type { Bridge } from './bridge.ts';
import type { RunLog } from './console.ts';
import { describeError } from './describe-error.ts';
import type { GuestFetch } from './fetch.ts';
import type { HostCalls } from './host-calls.ts';
import { applyFunction, parseJson, sliceText, stringifyOwn, whenSettled } from './intrinsics.ts';
import { makeActionContext } from './action-context.ts';
import { answerAdditionalProps } from './additional-props.ts';
import type { ComponentFunction } from './bind-methods.ts';
import { Templates } from './evaluate-templates.ts';
import { postProps } from './record-props.ts';
import { makeTellLoss } from './json-loss.ts';
import { toJson } from './json-value.ts';
import { defaultExportOf, type LoadedComponent, readExportedComponent } from './load-component.ts';
import { outlineComponent } from './outline.ts';
import { answerOptions, type OptionsQuestion } from './prop-options.ts';
import { PrivateMap } from './private-map.ts';
import type { RawRequests } from './raw-requests.ts';
import { limitError, limitOfThrown } from './limit-error.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { type InstanceParts, makeInstance, type RunInstance } from './run-instance.ts';
import { StepData } from './step-data.ts';
import { answerTransform } from './transform-request.ts';
import type { GuestTimers } from './timers.ts';
import { utf8LengthUpTo } from './utf8.ts';

type CallOf<Kind extends GuestCall['kind']> = Extract<GuestCall, { kind: Kind }>;

export interface GuestParts {
  bridge: Bridge;
  runs: RunTracker;
  log: RunLog;
  timers: GuestTimers;
  fetches: GuestFetch;
  calls: HostCalls;
  requests: RawRequests;
}

/** One isolate's side of the seam: every entry from the process comes through `dispatch`. */
export class Guest {
  readonly #parts: GuestParts & InstanceParts;
  readonly #templates = new Templates();
  #exported: unknown;
  #component: LoadedComponent | undefined;
  /** Runs whose entry ended in the last call. */
  readonly #ended = new PrivateMap<number, RunContext>();

  constructor(parts: GuestParts) {
    this.#parts = { ...parts, warn: (owner, message) => parts.log.warn(owner, message) };
  }

  /**
   * Never throws, except when V8 ends the isolate: what goes wrong in a run is reported as its
   * outcome.
   */
  dispatch(run: number, call: GuestCall): string | undefined {
    if (this.#ended.size > 0) this.#closeEnded();
    switch (call.kind) {
      case 'loading':
        this.#setLimits(call.limits);
        return void this.#parts.runs.begin(run, 'run', '');
      case 'limits':
        return this.#setLimits(call.limits);
      case 'load':
        return this.#load(call.namespace as { default?: unknown });
      case 'start':
        return this.#start(run, call);
      case 'timer':
        return this.#fireTimer(call.timer);
      case 'fetched':
        return this.#settleFetch(call);
      case 'answered':
        return this.#settleCall(call);
      case 'outline':
        return this.#outline();
      case 'end':
        return this.#end(run);
    }
  }

  /**
   * Runs a callback that has waited for its turn within an entry. As in a timer, an error ends its
   * run.
   */
  runCallback(callback: (...args: unknown[]) => unknown, args: unknown[]): void {
    const { runs } = this.#parts;
    const owner = runs.current();
    try {
      applyFunction(callback, undefined, args);
    } catch (error) {
      if (owner === undefined) throw error;
      this.#fail(owner, error);
    }
  }

  #setLimits(json: string): undefined {
    this.#parts.runs.knownLimits = parseJson(json) as GuestLimits;
  }

  #load(namespace: { default?: unknown }): string | undefined {
    try {
      this.#exported = defaultExportOf(namespace);
      return undefined;
    } catch (error) {
      return stringifyOwn(describeError(error));
    }
  }

  #outline(): string {
    try {
      return outlineComponent(this.#exported, this.#parts.runs.limits);
    } catch (error) {
      const limit = limitOfThrown(error);
      return stringifyOwn({ error: describeError(error), ...(limit === undefined ? {} : { limit }) });
    }
  }

  #start(run: number, { entry, dedupe, props, event: input }: CallOf<'start'>): undefined {
    const { log, runs } = this.#parts;
    const context = runs.begin(run, entry, dedupe);
    try {
      this.#component ??= readExportedComponent(this.#exported);
      context.tellLoss = makeTellLoss((message) => log.warn(context, message));
      const given = parseJson(props) as Record<string, RunProp>;
      const result =
        entry === 'step'
          ? this.#runStep(this.#component, context, given, input)
          : callEntry(this.#component, makeInstance(this.#parts, this.#component, context, given), context, input);
      if (typeof result !== 'object' || result === null) return this.#finish(context, result);
      whenSettled(
        result,
        (value) => this.#finish(context, value),
        (reason) => this.#fail(context, reason),
      );
    } catch (error) {
      this.#fail(context, error);
    }
    return undefined;
  }

  #runStep(component: LoadedComponent, context: RunContext, given: Record<string, RunProp>, input: string): unknown {
    const step = readStepInput(input, parseJson, sliceText);
    const steps = new StepData(step.steps);
    const scope = { steps, env: step.env };
    const { props, evaluated } = this.#templates.evaluate(given, scope, component.props, step.namespace);
    if (evaluated !== undefined) postProps(this.#parts.bridge, context, evaluated);
    const { self } = makeInstance(this.#parts, component, context, props);
    const argument = {
      $: makeActionContext(this.#parts, context, step),
      get steps() {
        return steps.all();
      },
    };
    return applyFunction(component.run, self, [argument]);
  }

  /**
   * Only some entries return a result. Later microtasks and open work outside still belong to the
   * run: the process knows when none is left.
   */
  #finish(context: RunContext, value: unknown): undefined {
    if (context.over || context.ended) return;
    // Finish pending writes, also those that the component did not await.
    const writes = context.storeTurns.writes();
    if (writes !== undefined) {
      whenSettled(writes, () => this.#finish(context, value), ignore);
      return undefined;
    }
    // A stream that it gave to be sent is sent whole.
    if (context.sendsBeingRead > 0) {
      context.whenSendsAreRead = () => this.#finish(context, value);
      return undefined;
    }
    const { bridge, runs } = this.#parts;
    let answer: string | undefined;
    try {
      answer = answerOf(context, value);
      if (context.exceeded !== undefined) throw limitError(context.exceeded);
      if (answer !== undefined) runs.takeBytes(context, utf8LengthUpTo(answer, context.limits.maxRunOutputBytes));
    } catch (error) {
      return this.#fail(context, error);
    }
    if (context.flow !== undefined) postFlow(bridge, context.run, context.flow);
    context.ended = true;
    if (isForm(context)) this.#close(context);
    else this.#ended.set(context.run, context);
    bridge.post({ kind: 'done', run: context.run, result: answer });
  }

  /**
   * Those that had nothing open at the end of the last call are over; of the others the process
   * says so.
   */
  #closeEnded(): void {
    for (let context = this.#ended.first(); context !== undefined; context = this.#ended.first()) {
      this.#ended.delete(context.run);
      if (context.open === 0) this.#close(context);
    }
  }

  #fail(context: RunContext, error: unknown): undefined {
    if (context.over) return;
    const limit = context.exceeded ?? limitOfThrown(error);
    const described = describeError(error);
    this.#close(context);
    const failure = stringifyOwn(limit === undefined ? described : { ...described, limit });
    this.#parts.bridge.post({ kind: 'failed', run: context.run, failure });
  }

  #end(run: number): undefined {
    const context = this.#parts.runs.find(run);
    if (context !== undefined) this.#close(context);
  }

  #close(context: RunContext): void {
    const { runs, timers, fetches, calls, requests } = this.#parts;
    runs.end(context);
    if (runs.isIdle()) {
      timers.dropAll();
      fetches.dropAll();
      calls.dropAll();
      requests.dropAll();
    }
  }

  #fireTimer(id: number): undefined {
    const { runs, timers } = this.#parts;
    const owner = timers.ownerOf(id);
    runs.enter(owner);
    try {
      timers.fire(id);
    } catch (error) {
      const context = runs.current() ?? owner;
      if (context !== undefined) this.#fail(context, error);
    }
  }

  #settleFetch({ call, head, body }: CallOf<'fetched'>): undefined {
    const { runs, fetches, requests } = this.#parts;
    const sender = requests.owns(call) ? requests : fetches;
    runs.enter(sender.ownerOf(call));
    sender.settle(call, head, body as Uint8Array<ArrayBuffer>);
  }

  #settleCall({ call, head, body }: CallOf<'answered'>): undefined {
    const { runs, calls } = this.#parts;
    runs.enter(calls.ownerOf(call));
    calls.settle(call, head, body);
  }
}

function ignore(): void {}

/** Nothing of it is kept but its answer. */
function isForm({ entry }: RunContext): boolean {
  return entry === 'options' || entry === 'additional-props' || entry === 'transform';
}

/** Result of an entry as JSON text; undefined if there is none. */
function answerOf({ entry, exits, limits, tellLoss }: RunContext, value: unknown): string | undefined {
  switch (entry) {
    case 'options':
    case 'additional-props':
    case 'transform':
      return value as string;
    case 'step':
      // A function says as little as undefined, and so does what `$.flow.exit` answered.
      if (value === undefined || typeof value === 'function' || (exits !== undefined && value === exits))
        return undefined;
      tellLoss?.('What the step returns', value);
      return resultJson(value, limits.maxResultBytes);
    default:
      return undefined;
  }
}

function resultJson(value: unknown, maxBytes: number): string {
  const json = toJson('What the step returns', value);
  const used = utf8LengthUpTo(json, maxBytes);
  if (used > maxBytes) throw limitError({ name: 'maxResultBytes', value: maxBytes, used });
  return json;
}

function postFlow(bridge: Bridge, run: number, flow: FlowAction): void {
  const { context, ...head } = flow as Extract<FlowAction, { kind: 'rerun' }>;
  bridge.post({ kind: 'step-flow', run, action: stringifyOwn(head), context });
}

function callEntry(component: LoadedComponent, instance: RunInstance, context: RunContext, input: string): unknown {
  const { entry, limits } = context;
  switch (entry) {
    case 'run':
      return applyFunction(component.run, instance.self, [parseJson(input)]);
    case 'options':
      return answerOptions(component, instance, parseJson(input) as OptionsQuestion, limits);
    case 'additional-props':
      return answerAdditionalProps(component, instance.self, input, limits);
    case 'transform':
      return answerTransform(component, instance.self, input, limits);
    default: {
      const hook = component.hooks[entry];
      return typeof hook === 'function' ? applyFunction(hook as ComponentFunction, instance.self, []) : undefined;
    }
  }
}
