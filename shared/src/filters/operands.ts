import type { Fault } from '../errors.ts';
import { platformLimit } from '../exceeded-limit.ts';
import type { Comparison, Scalar } from './filter.ts';

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * The fault of the value that an operator is given. `maxDepth`: how deep it may be nested.
 */
export function findOperandFault(operator: Comparison, operand: unknown, maxDepth: number): Fault | undefined {
  switch (operator) {
    case '$eq':
    case '$neq':
      return isDeeper(operand, maxDepth) ? { message: 'is nested too deep', limit: depthLimit } : undefined;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return isOrdered(operand) ? undefined : { message: 'must be a number or a text' };
    case '$in':
    case '$nin':
      return typeof operand === 'string' || isListOf(operand, isScalar)
        ? undefined
        : { message: 'must be a list of texts, numbers, booleans and null, or a text' };
    case '$exist':
      return typeof operand === 'boolean' ? undefined : { message: 'must be true or false' };
    case '$startsWith':
    case '$endsWith':
      return isText(operand) || isListOf(operand, isText)
        ? undefined
        : { message: 'must be a text or a list of texts' };
    case '$contains':
      return isScalar(operand) ? undefined : { message: 'must be a text, number, boolean or null' };
  }
}

const depthLimit = platformLimit('maxFilterDepth', platformLimit('maxFilterDepth', 0).value + 1);

const isText = (value: unknown): value is string => typeof value === 'string';
const isOrdered = (value: unknown) => typeof value === 'string' || typeof value === 'number';

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isOne);
}

function isDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return maxDepth <= 0 || Object.values(value).some((one) => isDeeper(one, maxDepth - 1));
}
