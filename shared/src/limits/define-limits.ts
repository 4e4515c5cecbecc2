export type LimitUnit =
  | 'bytes'
  | 'bytes per second'
  | 'characters'
  | 'characters per second'
  | 'count'
  | 'days'
  | 'hours'
  | 'MB'
  | 'minutes'
  | 'ms'
  | 'per second'
  | 'seconds';

export interface Limit {
  default: number;
  /** The name of a limit has it as well. */
  unit: LimitUnit;
  /** The limit holds for each of these on its own: a node, an account, a request. */
  scope: string;
  /** Finishes the sentence "a limit on …", with the reason where that is not plain. */
  why: string;
}

/** Limits of one area, by name. docs/configuration.md is generated from these tables. */
export function defineLimits<Name extends string>(limits: Record<Name, Limit>): Readonly<Record<Name, Limit>> {
  return limits;
}

export function defaultsOf<Name extends string>(limits: Readonly<Record<Name, Limit>>): Readonly<Record<Name, number>> {
  const defaults = Object.entries<Limit>(limits).map(([name, limit]) => [name, limit.default]);
  return Object.fromEntries(defaults) as Record<Name, number>;
}
