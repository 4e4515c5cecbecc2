import type { AnyApp, AppInstance } from './apps.d.ts';
import type { TakenProp } from './props.d.ts';
import type { DataStore, Db, HttpInterface, HttpRequest, SqlQuery, TimerInterface } from './services.d.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;

interface PlainValues {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  object: Record<string, unknown>;
  any: any;
}

interface ServiceValues {
  data_store: DataStore;
  http_request: HttpRequest;
  sql: SqlQuery;
  alert: undefined;
  '$.service.db': Db;
  '$.interface.http': HttpInterface;
  '$.interface.timer': TimerInterface;
}

/** Literal static choices narrow the value to them. */
type Chosen<D, Base> = D extends { options: readonly (infer O)[] }
  ? [O] extends [never]
    ? Base
    : O extends { value: infer V }
      ? V
      : O
  : Base;

type Handed<D, Base> = D extends { withLabel: true } ? { label: string; value: Chosen<D, Base> } : Chosen<D, Base>;

type ValueOfType<T, D> = T extends `${infer E}[]`
  ? E extends keyof PlainValues
    ? Handed<D, PlainValues[E]>[]
    : unknown
  : T extends keyof PlainValues
    ? Handed<D, PlainValues[T]>
    : T extends keyof ServiceValues
      ? ServiceValues[T]
      : unknown;

/** `optional` without a default: the value may be missing. */
type OrMissing<D, V> = D extends { default: {} | null }
  ? V
  : D extends { optional: infer O }
    ? O extends false
      ? V
      : V | undefined
    : V;

type Over<Base, Top> = Omit<Base, keyof Top> & Top;

type DefinitionIn<A, N> = A extends { propDefinitions: infer P } ? (N extends keyof P ? P[N] : never) : never;

/** Type of `this.<name>` for the prop D. */
export type PropValue<D> =
  IsAny<D> extends true
    ? any
    : IsWidened<D> extends true
      ? any
      : D extends { readonly propDefinition: readonly [infer A, infer N, ...unknown[]] }
        ? IsAny<A> extends true
          ? any
          : PropValue<Over<DefinitionIn<A, N>, Omit<D, 'propDefinition'>>>
        : D extends { readonly type: 'app' }
          ? AppInstance<D>
          : D extends { readonly type: infer T }
            ? OrMissing<D, ValueOfType<T, D>>
            : ValueOfType<D, {}>;

export type PropValues<P> = { -readonly [K in keyof P]: PropValue<P[K]> };

type Definition<D> = D extends { readonly propDefinition: readonly [infer A, infer N, ...unknown[]] }
  ? DefinitionIn<A, N>
  : D;

/** Whether one of the props is of this type; `boolean` where a prop could be anything. */
export type HasType<P, T> = true extends { [K in keyof P]: IsWidened<P[K]> }[keyof P]
  ? boolean
  : true extends { [K in keyof P]: Definition<P[K]> extends T | { readonly type: T } ? true : false }[keyof P]
    ? true
    : false;

/** With a prop that reloads, `this` has props that only `additionalProps` knows. */
export type DynamicValues<P> = true extends {
  [K in keyof P]: P[K] extends { readonly reloadProps: true } ? true : never;
}[keyof P]
  ? { [dynamicProp: string]: any }
  : unknown;

type IsWidened<D> = D extends string
  ? string extends D
    ? true
    : false
  : D extends { readonly type: infer T }
    ? string extends T
      ? true
      : false
    : D extends { readonly propDefinition: readonly (infer E)[] }
      ? string extends Extract<E, string>
        ? true
        : false
      : false;

type NamesIn<A> = A extends { readonly propDefinitions: infer P } ? keyof P : never;

/** The kind of prop that has this type. */
type KindOf<T, Allowed> = Allowed extends { readonly type: infer U } ? (T extends U ? Allowed : never) : never;

type KeysOf<K> = K extends unknown ? keyof K : never;

/**
 * Fields of D that its kind does not have, or not so. What stands in for them makes the message of
 * the error.
 */
type WrongFields<D, Kind> = {
  readonly [F in keyof D as F extends KeysOf<Kind>
    ? D[F] extends FieldOf<Kind, F>
      ? never
      : F
    : F]: F extends KeysOf<Kind>
    ? { readonly 'must be': NonNullable<FieldOf<Kind, F>> }
    : { readonly 'is no field of such a prop': never };
};

type FieldOf<Kind, F> = Kind extends { readonly [K in F & PropertyKey]?: infer V } ? V | undefined : never;

type CheckedFields<D, Kind> = [keyof WrongFields<D, Kind>] extends [never]
  ? D extends Kind
    ? unknown
    : Kind
  : WrongFields<D, Kind>;

type CheckedTaken<D, A, N> =
  IsAny<A> extends true
    ? unknown
    : N extends NamesIn<A>
      ? CheckedFields<D, TakenProp>
      : { readonly propDefinition: { readonly 'the app has no prop of this name, but': NamesIn<A> } };

/**
 * `unknown` where nothing is wrong with a prop. What an `options` method answers is not looked at:
 * to know it, the compiler would have to know this type first.
 */
type CheckedProp<D, Allowed> =
  IsAny<D> extends true
    ? unknown
    : IsWidened<D> extends true
      ? unknown
      : D extends { readonly propDefinition: readonly [infer A, infer N, ...unknown[]] }
        ? CheckedTaken<D, A, N>
        : D extends { readonly type: 'app' }
          ? unknown
          : D extends { readonly type: infer T }
            ? [KindOf<T, Allowed>] extends [never]
              ? { readonly type: { readonly 'is no type of prop here': never } }
              : CheckedFields<D, KindOf<T, Allowed>>
            : D extends Allowed
              ? unknown
              : { readonly 'is no prop here': never };

export type CheckedProps<P, Allowed> = { readonly [K in keyof P]: CheckedProp<P[K], Allowed> };
