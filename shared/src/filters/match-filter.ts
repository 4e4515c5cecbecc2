import type { Check, FieldFilter, Filter, FilterMeter } from './filter.ts';
import { passes } from './comparisons.ts';

export type FilterAnswer = 'match' | 'no_match' | 'too_costly';

/**
 * Whether an event's data match. At most `meter.left` values are looked at; fewer are left
 * afterwards.
 */
export function matchFilter(filter: Filter, data: unknown, meter: FilterMeter): FilterAnswer {
  const isMatch = matches(filter, data, meter);
  return meter.left < 0 ? 'too_costly' : isMatch ? 'match' : 'no_match';
}

/** `value` is undefined where the event has no such member. */
export function matches(filter: Filter, value: unknown, meter: FilterMeter): boolean {
  if (--meter.left < 0) return false;
  if (!filter.checks.every((check) => passesCheck(check, value, meter))) return false;
  if (filter.not !== undefined && matches(filter.not, value, meter)) return false;
  if (filter.elements.length > 0) return Array.isArray(value) && hasAll(filter.elements, value, meter);
  return hasMembers(filter, value, meter);
}

const passesCheck = ({ operator, operand }: Check, value: unknown, meter: FilterMeter) =>
  passes(operator, operand, value, meter);

const hasAll = (filters: readonly Filter[], list: readonly unknown[], meter: FilterMeter) =>
  filters.every((filter) => some(list, (one) => matches(filter, one, meter), meter));

/** The named members and the alternatives: of a list one element has them all. */
function hasMembers(filter: Filter, value: unknown, meter: FilterMeter): boolean {
  if (filter.namesFields && Array.isArray(value)) {
    if (--meter.left < 0) return false;
    return some(value, (one) => hasMembers(filter, one, meter), meter);
  }
  return (
    filter.fields.every((field) => hasField(field, value, meter)) &&
    filter.and.every((one) => matches(one, value, meter)) &&
    (filter.or.length === 0 || filter.or.some((one) => matches(one, value, meter)))
  );
}

function hasField({ name, path, filter }: FieldFilter, value: unknown, meter: FilterMeter): boolean {
  if (path.length > 1 && isOwner(value, name)) return matches(filter, value[name], meter);
  return follows(path, 0, filter, value, meter);
}

const INDEX = /^\d{1,7}$/;

function follows(path: readonly string[], from: number, filter: Filter, value: unknown, meter: FilterMeter): boolean {
  const name = path[from];
  if (name === undefined) return matches(filter, value, meter);
  if (--meter.left < 0) return false;
  if (Array.isArray(value)) {
    if (INDEX.test(name)) return follows(path, from + 1, filter, value[Number(name)], meter);
    return some(value, (one) => follows(path, from, filter, one, meter), meter);
  }
  return isOwner(value, name) ? follows(path, from + 1, filter, value[name], meter) : matches(filter, undefined, meter);
}

/**
 * Members of its own: a name such as `__proto__` or `constructor` is one only where the JSON has
 * it.
 */
function isOwner(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name);
}

function some(list: readonly unknown[], isOne: (one: unknown) => boolean, meter: FilterMeter): boolean {
  for (const one of list) {
    if (isOne(one)) return true;
    if (meter.left < 0) return false;
  }
  return false;
}
