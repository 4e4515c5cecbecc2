import { type FieldError, HeadwaterError, LIMITS, type PropDefinition } from '@headwater/shared';
import { checkTimer } from '../schedule/next-tick.ts';
import { isSealed } from './run-props.ts';

/**
 * Checks configured props against their definitions and fills in defaults. Every wrong prop is reported at once. Props
 * that the component does not define are ignored. Answers the values to store.
 *
 * Throws INVALID_PROPS.
 */
export function validateProps(
  definitions: readonly PropDefinition[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const errors: FieldError[] = [];
  const values: Record<string, unknown> = {};
  for (const definition of definitions) {
    const own = Object.hasOwn(given, definition.name) ? given[definition.name] : undefined;
    const value = own ?? definition.default;
    const problem = problemOf(definition, value);
    if (problem !== undefined) errors.push({ path: `configured_props.${definition.name}`, message: problem });
    else if (value !== undefined && value !== null && isStored(definition)) {
      Object.defineProperty(values, definition.name, { value, enumerable: true });
    }
  }
  if (errors.length > 0) {
    const [first] = errors as [FieldError];
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    throw new HeadwaterError('INVALID_PROPS', `${first.path}: ${first.message}${more}`, { fields: errors });
  }
  return values;
}

function isStored(definition: PropDefinition): boolean {
  return definition.type !== '$.interface.http' && definition.type !== '$.service.db' && definition.type !== 'alert';
}

function problemOf(definition: PropDefinition, value: unknown): string | undefined {
  switch (definition.type) {
    case '$.interface.http':
    case '$.service.db':
    case 'alert':
      return undefined;
    case 'app':
      return 'App props need a connected account, which this version cannot hold yet';
    case '$.interface.timer':
      break;
    default:
      if (definition.type.startsWith('$.')) {
        return `Props of type ${definition.type} are not available; use $.interface.http and register its endpoint`;
      }
  }
  if (value === undefined || value === null) return definition.optional === true ? undefined : 'A value is required';
  if (definition.type === '$.interface.timer') return checkTimer(value);
  // Only we may store this form: it is opened with the account's key when the component runs.
  if (isSealed(value)) return 'The key $sealed is reserved';
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > LIMITS.maxPropValueBytes)
    return `The value has ${bytes} bytes; at most ${LIMITS.maxPropValueBytes} are allowed`;
  return definition.type.endsWith('[]')
    ? arrayProblem(definition, definition.type.slice(0, -2), value)
    : typeProblem(definition, definition.type, value);
}

function arrayProblem(definition: PropDefinition, type: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `Expected an array of ${type}`;
  for (const [i, item] of value.entries()) {
    const problem = typeProblem(definition, type, item);
    if (problem !== undefined) return `Item ${i}: ${problem}`;
  }
  return undefined;
}

function typeProblem(definition: PropDefinition, type: string, value: unknown): string | undefined {
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
      return typeof value === 'object' && !Array.isArray(value)
        ? undefined
        : `Expected an object, got ${kindOf(value)}`;
    default:
      return undefined;
  }
}

function integerProblem(definition: PropDefinition, value: unknown): string | undefined {
  if (!Number.isSafeInteger(value)) return `Expected an integer, got ${kindOf(value)}`;
  if (definition.min !== undefined && (value as number) < definition.min) return `Must be at least ${definition.min}`;
  if (definition.max !== undefined && (value as number) > definition.max) return `Must be at most ${definition.max}`;
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
