import type { Given, Methods } from './apps.d.ts';
import type { ActionRun } from './action-context.d.ts';
import type { DedupeStrategy, Emit, HttpEvent, TimerEvent } from './events.d.ts';
import type { ActionProp, ActionProps, SourceProp, SourceProps } from './props.d.ts';
import type { CheckedProps, DynamicValues, HasType, PropValues } from './values.d.ts';

/** Blocks inference from here: the allowed type depends on P. */
type Checked<P, Allowed> = { readonly props?: NoInfer<CheckedProps<P, Allowed>> };

interface ComponentFields<P, M, K, V> {
  /** Shown in the account; a deployed source gets a slug of it. */
  readonly name: string;
  /** `<app>-<name>`; the registry requires it. */
  readonly key?: K;
  /** Any text; semver in the registry. */
  readonly version: V;
  /** Markdown. */
  readonly description?: string;
  readonly props?: P;
  readonly methods?: M;
  /**
   * Called with all current props after the user sets one with `reloadProps`. Its result replaces
   * the previous result.
   */
  readonly additionalProps?: Function;
}

export interface Hooks {
  /** Once, when the source is created. */
  readonly deploy?: Function;
  /** When it is created, updated or started again. */
  readonly activate?: Function;
  /** Before it is updated, stopped or deleted. */
  readonly deactivate?: Function;
}

/** The event of `run`, by the interfaces that the source has. A run by hand may bring anything. */
export type SourceEvent<P> = EventOf<HasType<P, '$.interface.http'>, HasType<P, '$.interface.timer'>>;

type EventOf<Http, Timer> = [Http, Timer] extends [true, true]
  ? HttpEvent | TimerEvent
  : [Http, Timer] extends [true, false]
    ? HttpEvent
    : [Http, Timer] extends [false, true]
      ? TimerEvent
      : any;

export type SourceThis<P, M, D> = PropValues<P> & M & { $emit: Emit<D> } & DynamicValues<P>;

export interface SourceOptions<P, M, D, K, V> extends ComponentFields<P, M, K, V> {
  readonly type?: 'source';
  readonly dedupe?: D;
  readonly hooks?: Hooks;
  /** A sample of the emitted events, for users who build on them. */
  readonly sampleEmit?: unknown;
  run(event: SourceEvent<Given<P>>): unknown;
}

/** For `export default { … } satisfies Source`: everything is checked but what `this` has. */
export type Source = SourceOptions<
  { readonly [name: string]: SourceProp },
  Methods,
  DedupeStrategy | undefined,
  string,
  string
> &
  ThisType<any>;

export interface SourceDefinition<P = {}, M = {}, D = undefined, K = string, V = string> {
  readonly name: string;
  readonly key?: K;
  readonly type?: 'source';
  readonly version: V;
  readonly description?: string;
  readonly dedupe: D;
  readonly props: P;
  readonly methods: M;
  readonly hooks: Hooks;
  run(event: any): unknown;
}

export interface DefineSource {
  <
    const P extends SourceProps,
    M extends Methods,
    D extends DedupeStrategy | undefined,
    const K extends string,
    const V extends string,
  >(
    source: SourceOptions<P, M, D, K, V> & Checked<P, SourceProp> & ThisType<SourceThis<Given<P>, Given<M>, D>>,
  ): SourceDefinition<Given<P>, Given<M>, D, K, V>;
}

export type ActionThis<P, M> = PropValues<P> & M & DynamicValues<P>;

export interface ActionOptions<P, M, K, V, R> extends ComponentFields<P, M, K, V> {
  readonly type: 'action';
  /** Hints for people and agents about its effects. */
  readonly annotations?: {
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
    readonly readOnlyHint?: boolean;
    readonly idempotentHint?: boolean;
  };
  run(context: ActionRun): R;
}

/** For `export default { … } satisfies Action`. */
export type Action = ActionOptions<{ readonly [name: string]: ActionProp }, Methods, string, string, unknown> &
  ThisType<any>;

/** A request of a webhook, before it is sent. */
export interface TransformRequest {
  method: 'POST' | 'PUT' | 'PATCH';
  /** With the query. */
  path: string;
  /** Names in lower case. Own headers of the webhook, its proof and its signature come later. */
  headers: { [name: string]: string };
  body: any;
  readonly event: {
    readonly id: string;
    readonly emitter_id: string;
    /** Empty: the default one. */
    readonly channel: string;
    readonly timestamp_ms: number;
  };
}

/** A field that is left out stays as it was. */
export type TransformResult =
  | {
      method?: string;
      path?: string;
      /** Set beside those that there are; null removes one. */
      headers?: { [name: string]: string | number | null | undefined };
      /** A text is sent as it is, anything else as JSON. */
      body?: unknown;
    }
  /** Nothing is sent. */
  | { drop: string | true }
  | null;

/** For `export default { … } satisfies Transform`. */
export interface Transform {
  readonly name: string;
  readonly key?: string;
  readonly type: 'transform';
  readonly version: string;
  readonly description?: string;
  run(request: TransformRequest): TransformResult | Promise<TransformResult>;
}

export interface ActionDefinition<P = {}, M = {}, K = string, V = string, R = unknown> {
  readonly name: string;
  readonly key?: K;
  readonly type: 'action';
  readonly version: V;
  readonly description?: string;
  readonly props: P;
  readonly methods: M;
  run(context: ActionRun): R;
}

export interface DefineAction {
  <const P extends ActionProps, M extends Methods, const K extends string, const V extends string, R>(
    action: ActionOptions<P, M, K, V, R> & Checked<P, ActionProp> & ThisType<ActionThis<Given<P>, Given<M>>>,
  ): ActionDefinition<Given<P>, Given<M>, K, V, R>;
}
