import type { z } from 'zod';

/**
 * Types of a resource, derived from its one schema. It describes the JSON of answers: names in
 * snake_case, times as numbers, null for absent values. These types have no runtime code.
 */

/** A resource as answers have it. */
export type Shown<S extends z.ZodType> = z.input<S>;

/** The same in the engine: names in camelCase, times as dates, absent values left out. */
export type RecordOf<S extends z.ZodType> = InCamelCase<z.output<S>>;

/** The same for code that reads it alone. */
export type ReadonlyRecordOf<S extends z.ZodType> = Frozen<RecordOf<S>>;

type Frozen<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type InCamelCase<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? InCamelCase<Item>[]
    : T extends object
      ? Flat<
          { [K in keyof T as MayBeAbsent<T[K]> extends true ? never : CamelCase<K>]: InCamelCase<T[K]> } & {
            [K in keyof T as MayBeAbsent<T[K]> extends true ? CamelCase<K> : never]?: InCamelCase<NonNullable<T[K]>>;
          }
        >
      : T;

/** `unknown` is never absent: null is one of its values. */
type MayBeAbsent<T> = unknown extends T ? false : null extends T ? true : undefined extends T ? true : false;

type Flat<T> = { [K in keyof T]: T[K] };
