export const COMPARISONS = [
  '$eq',
  '$neq',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$exist',
  '$startsWith',
  '$endsWith',
  '$contains',
] as const;

export type Comparison = (typeof COMPARISONS)[number];

export type Scalar = string | number | boolean | null;

export type FilterJson = Readonly<Record<string, unknown>>;

export interface Check {
  operator: Comparison;
  operand: unknown;
}

/** A condition on a member. */
export interface FieldFilter {
  /** As written: `order.total`. A member of just this name comes first. */
  name: string;
  /** The same as a path. */
  path: readonly string[];
  filter: Filter;
}

/**
 * A filter that was checked and taken apart. All its parts hold together (and); `elements` are
 * those of a list, each of which an element of the event's list has to match.
 */
export interface Filter {
  json: unknown;
  checks: readonly Check[];
  fields: readonly FieldFilter[];
  elements: readonly Filter[];
  and: readonly Filter[];
  or: readonly Filter[];
  not: Filter | undefined;
  /**
   * It names members, by itself or within `$and` or `$or`: of a list, one element has to have them
   * all.
   */
  namesFields: boolean;
}

/** Remaining value checks. Below zero, the filter's answer has no meaning. */
export interface FilterMeter {
  left: number;
}
