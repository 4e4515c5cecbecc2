import type { FieldError } from '@headwater/shared';
import { isFunctionMark } from '../bridge/function-mark.ts';

type Fields = Record<string, unknown>;

/** The fields that any prop may have, by the type that they must be of. */
const FIELD_TYPES: Record<string, 'string' | 'boolean'> = {
  label: 'string',
  description: 'string',
  optional: 'boolean',
  secret: 'boolean',
  customResponse: 'boolean',
  useQuery: 'boolean',
  reloadProps: 'boolean',
  withLabel: 'boolean',
  hidden: 'boolean',
  disabled: 'boolean',
};

const NUMERIC_TYPES = ['integer', 'integer[]', 'number', 'number[]'];
const ALERT_TYPES = ['info', 'neutral', 'warning', 'error'];

/**
 * Validates a prop's fields besides its type. Null counts as absent. A `default` is allowed on a
 * required prop, because many real components have one: the form begins with it.
 */
export function judgeFields(path: string, type: string | undefined, fields: Fields, errors: FieldError[]): void {
  for (const name of Object.keys(fields)) if (fields[name] === null && name !== 'default') delete fields[name];
  for (const name of Object.keys(fields)) {
    if (!isFunctionMark(fields[name])) continue;
    delete fields[name];
    errors.push({ path: `${path}.${name}`, message: 'must be a value, not a function' });
  }
  for (const [name, expected] of Object.entries(FIELD_TYPES)) {
    const value = fields[name];
    if (value !== undefined && typeof value !== expected)
      errors.push({ path: `${path}.${name}`, message: `must be a ${expected}, not a ${typeof value}` });
  }
  if (fields['secret'] === true && type !== undefined && type !== 'string' && type !== 'string[]')
    errors.push({ path: `${path}.secret`, message: `only string props can be secret, not one of type ${type}` });
  judgeBounds(path, type, fields, errors);
  judgeOptions(path, fields['options'], errors);
  if (type === 'alert') judgeAlert(path, fields, errors);
  if (type === 'app') judgeApp(path, fields, errors);
}

function judgeBounds(path: string, type: string | undefined, { min, max }: Fields, errors: FieldError[]): void {
  for (const [name, bound] of Object.entries({ min, max })) {
    if (bound === undefined) continue;
    const at = `${path}.${name}`;
    if (type !== undefined && !NUMERIC_TYPES.includes(type))
      errors.push({ path: at, message: `only integer props have ${name}, not one of type ${type}` });
    else if (typeof bound !== 'number') errors.push({ path: at, message: `must be a number, not a ${typeof bound}` });
    else if (type?.startsWith('integer') === true && !Number.isInteger(bound))
      errors.push({ path: at, message: 'must be a whole number' });
  }
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    errors.push({ path: `${path}.min`, message: `is larger than max, which is ${max}` });
}

/** True stands for a method. */
function judgeOptions(path: string, options: unknown, errors: FieldError[]): void {
  if (options === undefined || options === true) return;
  const at = `${path}.options`;
  if (!Array.isArray(options)) {
    errors.push({ path: at, message: 'must be a list of values, a list of { label, value } objects, or a method' });
    return;
  }
  const wrong = options.findIndex((option) => !isOption(option));
  if (wrong >= 0)
    errors.push({ path: `${at}[${wrong}]`, message: 'must be a string, a number, a boolean or { label, value }' });
}

function isOption(option: unknown): boolean {
  if (typeof option !== 'object' || option === null) return true;
  return !Array.isArray(option) && ('value' in option || 'label' in option);
}

function judgeAlert(path: string, { alertType, content }: Fields, errors: FieldError[]): void {
  if (alertType !== undefined && !ALERT_TYPES.some((known) => known === alertType))
    errors.push({ path: `${path}.alertType`, message: `must be one of ${ALERT_TYPES.join(', ')}` });
  if (typeof content !== 'string')
    errors.push({ path: `${path}.content`, message: 'is missing: the text of the alert' });
}

function judgeApp(path: string, { app }: Fields, errors: FieldError[]): void {
  if (typeof app !== 'string' || app === '')
    errors.push({ path: `${path}.app`, message: 'is missing: the slug of the app' });
}
