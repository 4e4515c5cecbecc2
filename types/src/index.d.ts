import type { AppAuth } from './apps.d.ts';
import type { DefineAction, DefineSource } from './components.d.ts';
import type { DefineApp } from './define-app.d.ts';

export type {
  ActionContext,
  ActionRun,
  Flow,
  FlowEnd,
  ResumeLinks,
  RunContext,
  Send,
  SentRequest,
} from './action-context.d.ts';
export type { AnyApp, App, AppAuth, AppAuths, AppInstance, Methods } from './apps.d.ts';
export type {
  Action,
  ActionDefinition,
  ActionThis,
  Hooks,
  Source,
  SourceDefinition,
  SourceEvent,
  SourceThis,
  Transform,
  TransformRequest,
  TransformResult,
} from './components.d.ts';
export type { DedupedMetadata, DedupeStrategy, Emit, EmitMetadata, HttpEvent, TimerEvent } from './events.d.ts';
export type {
  ActionProps,
  InputProp,
  OptionsAnswer,
  OptionsInput,
  PropDefinitions,
  SourceProps,
  TakenProp,
  TimerDefault,
} from './props.d.ts';
export type {
  DataStore,
  Db,
  HttpAnswer,
  HttpInterface,
  HttpRequest,
  HttpResult,
  SqlQuery,
  TimerInterface,
} from './services.d.ts';
export type { PropValue, PropValues } from './values.d.ts';

/** Returns its argument. It adds the types of `this`, which come from `props` and `methods`. */
export declare const defineSource: DefineSource;

/** As `defineSource`. */
export declare const defineAction: DefineAction;

/**
 * As `defineSource`, for the app that components use as a prop. `defineApp<Auth>()({ … })` gives
 * `$auth` a type. Without it, `$auth` has the fields of an OAuth account, and any other field.
 */
export declare const defineApp: DefineApp<AppAuth> & (<Auth>() => DefineApp<Auth>);

/** Error in the user's configuration; the user sees its message unchanged. */
export declare class ConfigurationError extends Error {
  readonly name: 'ConfigurationError';
}
