import { isDeepStrictEqual } from 'node:util';
import type { PropDefinition } from '@headwater/shared';

/**
 * The problem of a value under the type of its prop; undefined if there is none. The caller checks
 * timers with timerCheck.
 */
export function findTypeProblem(definition: PropDefinition, value: unknown): string | undefined {
  const { type } = definition;
  const plain = definition['withLabel'] === true ? plainOf(value) : value;
  if (isOffered(definition, plain) || isOwnDefault(definition, plain)) return undefined;
  return type.endsWith('[]') ? arrayProblem(definition, type.slice(0, -2), plain) : oneProblem(definition, type, plain);
}

/**
 * Whether the component itself offers the value. Then its type is right, whatever the prop's type
 * is: an `integer` with `options: ['1', '2']` gets `'1'`. Options computed at run time are unknown
 * here, so any plain value may be one.
 */
function isOffered({ options }: PropDefinition, value: unknown): boolean {
  if (options === true) return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (!Array.isArray(options)) return false;
  return (options as unknown[]).some((option) => isDeepStrictEqual(plainOf(option), value));
}

/**
 * A default in another writing of the same value: `'10'` of an integer, `5` of a string. It is the
 * component's own, and reaches it as it is written.
 */
function isOwnDefault({ type, default: own }: PropDefinition, value: unknown): boolean {
  if (own === undefined || own !== value) return false;
  switch (type) {
    case 'string':
      return typeof own === 'number' || typeof own === 'boolean';
    case 'integer':
      return typeof own === 'string' && /^-?\d{1,15}$/.test(own);
    case 'number':
      return typeof own === 'string' && own.trim() !== '' && Number.isFinite(Number(own));
    case 'boolean':
      return own === 'true' || own === 'false';
    default:
      return false;
  }
}

/** With `withLabel` the component gets `{ label, value }`, and the value is what has the type. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  return typeof value === 'object' && value !== null && 'value' in value ? value.value : value;
}

function arrayProblem(definition: PropDefinition, type: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `Expected an array of ${type}, got ${kindOf(value)}`;
  for (const [i, item] of value.entries()) {
    if (isOffered(definition, item)) continue;
    const problem = oneProblem(definition, type, item);
    if (problem !== undefined) return `Item ${i}: ${problem}`;
  }
  return undefined;
}

function oneProblem(definition: PropDefinition, type: string, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? undefined : `Expected a string, got ${kindOf(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `Expected true or false, got ${kindOf(value)}`;
    case 'integer':
      return integerProblem(definition, value);
    case 'number':
      return typeof value === 'number' ? undefined : `Expected a number, got ${kindOf(value)}`;
    case 'object':
    case 'http_request':
      return objectProblem(value);
    default:
      return undefined;
  }
}

function objectProblem(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  const hint = typeof value === 'string' ? '; JSON in a string is not taken for one' : '';
  return `Expected an object, got ${kindOf(value)}${hint}`;
}

function integerProblem({ min, max }: PropDefinition, value: unknown): string | undefined {
  if (!Number.isSafeInteger(value)) return `Expected an integer, got ${kindOf(value)}`;
  if (min !== undefined && (value as number) < min) return `Must be at least ${min}`;
  return max !== undefined && (value as number) > max ? `Must be at most ${max}` : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
