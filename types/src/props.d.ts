import type { AnyApp } from './apps.d.ts';

/** Argument of an `options` method, with the `inputValues` of the prop that reuses it. */
export interface OptionsInput {
  /** Counts from 0. */
  page: number;
  /** `context` of the answer before. */
  prevContext: any;
  /** Search text of the user; only with `useQuery`. */
  query?: string;
  [inputValue: string]: any;
}

type Option<V> = V | { readonly label: string; readonly value: V };

/** Result of an `options` method; `context` comes back as `prevContext`. */
export type OptionsAnswer<V = string | number | boolean> =
  | readonly Option<V>[]
  | { readonly options: readonly Option<V>[]; readonly context?: object };

/**
 * A method whose author types its parameters. With a signature here, the compiler would infer the
 * result from the method's body before it knows all of `this`, which the body needs.
 */
type LaterMethod = Function;

/** Fields of every kind of prop. */
interface PropFields {
  readonly label?: string;
  /** Markdown. */
  readonly description?: string;
  /** Default false: required. */
  readonly optional?: boolean;
  /** Shown, but not to be changed. */
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  /** A choice calls `additionalProps`. */
  readonly reloadProps?: boolean;
  readonly min?: never;
  readonly max?: never;
  readonly secret?: never;
}

interface InputFields<V, Value> extends PropFields {
  readonly options?: readonly Option<V>[] | LaterMethod;
  /** The `options` method gets what the user types as `query`. */
  readonly useQuery?: boolean;
  /** The component gets the chosen option as `{ label, value }`. */
  readonly withLabel?: boolean;
  readonly default?: Value;
}

type Prop<Type extends string, V, Fields = unknown> =
  | ({ readonly type: Type } & Substitute<InputFields<V, V>, Fields>)
  | ({ readonly type: `${Type}[]` } & Substitute<InputFields<V, readonly V[]>, Fields>);

interface ObjectProp extends InputFields<object, object> {
  readonly type: 'object';
}

interface AnyProp extends InputFields<any, any> {
  readonly type: 'any';
}

type Substitute<T, U> = Omit<T, keyof U> & U;

type StringProp = Prop<'string', string, { readonly secret?: boolean }>;
type NumberProp = Prop<'integer' | 'number', number, { readonly min?: number; readonly max?: number }>;
type BooleanProp = Prop<'boolean', boolean>;

interface AlertProp extends PropFields {
  readonly type: 'alert';
  readonly alertType?: 'info' | 'neutral' | 'warning' | 'error';
  /** Markdown. */
  readonly content: string;
}

interface DataStoreProp extends PropFields {
  readonly type: 'data_store';
}

interface HttpRequestProp extends PropFields {
  readonly type: 'http_request';
  readonly default?: object;
}

interface SqlProp extends PropFields {
  readonly type: 'sql';
  readonly auth?: { readonly app: string };
  readonly default?: object;
}

interface DirProp extends PropFields {
  readonly type: 'dir';
  readonly accessMode?: 'read' | 'write' | 'read-write';
  readonly sync?: boolean;
}

interface DbProp extends PropFields {
  readonly type: '$.service.db';
}

interface HttpProp extends PropFields {
  readonly type: '$.interface.http';
  /** The component answers the client by `respond`. Default false: 200 at once. */
  readonly customResponse?: boolean;
}

export type TimerDefault =
  | { readonly intervalSeconds: number; readonly cron?: never }
  | { readonly cron: string; readonly timezone?: string; readonly intervalSeconds?: never };

interface TimerProp extends PropFields {
  readonly type: '$.interface.timer';
  readonly default?: TimerDefault;
  /** As `default`. */
  readonly static?: TimerDefault;
}

/** Interfaces that belong to one app, such as `$.interface.apphook`. */
interface AppInterfaceProp extends PropFields {
  readonly type: '$.interface.apphook' | `$.${'airtable' | 'discord' | 'slack' | 'chat'}.${string}`;
  readonly [extra: string]: unknown;
}

/**
 * `[app, name, inputValues]`: the app's definition of its prop `name`, overridden by the fields
 * beside it.
 */
export interface TakenProp {
  readonly propDefinition: readonly [app: AnyApp, name: string, inputValues?: InputValues];
  readonly type?: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  readonly reloadProps?: boolean;
  readonly useQuery?: boolean;
  readonly withLabel?: boolean;
  readonly secret?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly default?: unknown;
  readonly options?: readonly Option<any>[] | LaterMethod;
}

/**
 * Given to the `options` method that was taken over; a function gets what has been configured so
 * far.
 */
type InputValues = Readonly<Record<string, unknown>> | ((configured: any) => object);

/** Props that the user fills in. */
export type InputProp =
  | StringProp
  | NumberProp
  | BooleanProp
  | ObjectProp
  | AnyProp
  | AlertProp
  | DataStoreProp
  | HttpRequestProp
  | SqlProp
  | DirProp;

type SourceService = HttpProp | TimerProp | DbProp | AppInterfaceProp;
type ListedType = 'string' | 'integer' | 'number' | 'boolean';

/** `db: '$.service.db'` is short for `db: { type: '$.service.db' }`. */
type ShortInput = ListedType | `${ListedType}[]` | 'object' | 'any' | 'data_store' | 'http_request' | 'sql';
type ShortService = '$.interface.http' | '$.interface.timer' | '$.service.db';

/**
 * An action runs as a step of a workflow: it has no interfaces and no `$.service.db` of its own.
 */
export type ActionProp = InputProp | TakenProp | AnyApp | ShortInput;
export type SourceProp = ActionProp | SourceService | ShortService;

/**
 * Type of props from a plain object that is spread into a component. TypeScript widens their
 * literals, so they cannot be checked.
 */
export type WidenedProp = string | { readonly type: string } | { readonly propDefinition: readonly unknown[] };

export type ActionProps = { readonly [name: string]: ActionProp | WidenedProp };
export type SourceProps = { readonly [name: string]: SourceProp | WidenedProp };

/** `propDefinitions` of an app. A component may also take over an interface. */
export type DefinitionProp = InputProp | SourceService | ShortInput | ShortService;
export type PropDefinitions = { readonly [name: string]: DefinitionProp | WidenedProp };
