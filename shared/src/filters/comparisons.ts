import type { Comparison, FilterMeter } from './filter.ts';
import { isScalar } from './operands.ts';

/** Native text search: this many characters cost as much as one check of a value. */
const CHARS_PER_STEP = 512;

/** A missing value passes nothing but `$exist: false`. */
export function passes(operator: Comparison, operand: unknown, value: unknown, meter: FilterMeter): boolean {
  if (--meter.left < 0) return false;
  if (operator === '$exist') return (value !== undefined) === operand;
  if (value === undefined) return false;
  switch (operator) {
    case '$eq':
      return isEqual(value, operand, meter) || (isScalar(operand) && hasElement(value, operand, meter));
    case '$neq':
      return !(isEqual(value, operand, meter) || (isScalar(operand) && hasElement(value, operand, meter)));
    case '$in':
      return isAmong(value, operand, meter);
    case '$nin':
      return !isAmong(value, operand, meter);
    case '$contains':
      return contains(value, operand, meter);
    default:
      return ofElements(value, meter, (one) => compares(operator, one, operand));
  }
}

function compares(operator: Comparison, value: unknown, operand: unknown): boolean {
  if (operator === '$startsWith') return hasPart(value, operand, (text, part) => text.startsWith(part));
  if (operator === '$endsWith') return hasPart(value, operand, (text, part) => text.endsWith(part));
  if (typeof value === 'number' && typeof operand === 'number') return isOrdered(operator, value, operand);
  return typeof value === 'string' && typeof operand === 'string' && isOrdered(operator, value, operand);
}

/** Texts are compared by their UTF-16 code units, as JavaScript does. */
function isOrdered<T extends number | string>(operator: Comparison, value: T, operand: T): boolean {
  if (operator === '$gt') return value > operand;
  if (operator === '$gte') return value >= operand;
  return operator === '$lt' ? value < operand : value <= operand;
}

function hasPart(value: unknown, operand: unknown, has: (text: string, part: string) => boolean): boolean {
  return typeof value === 'string' && [operand].flat().some((part) => has(value, part as string));
}

/**
 * With a list as operand: the value, or an element of it, is in the list. Of a text: it is part of
 * the value.
 */
function isAmong(value: unknown, operand: unknown, meter: FilterMeter): boolean {
  if (typeof operand === 'string') return contains(value, operand, meter);
  return ofElements(value, meter, (one) => (operand as unknown[]).includes(one));
}

function contains(value: unknown, operand: unknown, meter: FilterMeter): boolean {
  if (typeof value !== 'string') return hasElement(value, operand, meter);
  meter.left -= value.length / CHARS_PER_STEP;
  return typeof operand === 'string' && value.includes(operand);
}

function hasElement(value: unknown, operand: unknown, meter: FilterMeter): boolean {
  return Array.isArray(value) && ofElements(value, meter, (one) => one === operand);
}

function ofElements(value: unknown, meter: FilterMeter, isOne: (one: unknown) => boolean): boolean {
  if (!Array.isArray(value)) return isOne(value);
  for (const one of value) {
    if (--meter.left < 0) return false;
    if (isOne(one)) return true;
  }
  return false;
}

/**
 * Equal JSON, in any order of members. The recursion is as deep as the operand, whose depth is
 * limited.
 */
function isEqual(value: unknown, operand: unknown, meter: FilterMeter): boolean {
  if (typeof operand !== 'object' || operand === null) return value === operand;
  if (--meter.left < 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) !== Array.isArray(operand)) return false;
  if (Array.isArray(value) && Array.isArray(operand)) {
    return value.length === operand.length && operand.every((one, at) => isEqual(value[at], one, meter));
  }
  const entries = Object.entries(operand);
  const names = Object.keys(value);
  meter.left -= names.length;
  return (
    names.length === entries.length &&
    entries.every(([name, one]) => Object.hasOwn(value, name) && isEqual(Reflect.get(value, name), one, meter))
  );
}
