import type { z } from 'zod';

/**
 * The types of a resource that follow from its one schema, which describes the JSON of answers:
 * names in snake_case, times as numbers, null for what is not there. Everything here is erased.
 */

/** A resource as answers have it. */
export type Shown<S extends z.ZodType> = z.input<S>;

/**
 * The same as the engine has it: names in camelCase, times as dates, and what is not there absent.
 */
export type RecordOf<S extends z.ZodType> = InCamelCase<z.output<S>>;

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
