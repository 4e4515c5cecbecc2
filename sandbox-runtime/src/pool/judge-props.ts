import { didYouMean, type FieldError, LIMITS, platformLimit, type PropDefinition } from '@headwater/shared';
import { depthOf } from './depth-of.ts';
import { judgeFields } from './judge-prop-fields.ts';

/**
 * Bounds the reported errors and the length of names in them. A kilobyte of code can have thousands
 * of invalid fields.
 */
export const MAX_ERRORS = 100;
export const MAX_SHOWN_NAME_CHARS = 200;

const ARRAY_TYPES = ['string', 'integer', 'number', 'boolean'] as const;
const SINGLE_TYPES = ['object', 'any', 'sql', 'http_request', 'data_store', 'alert', 'app', 'dir'] as const;
const SOURCE_TYPES = ['$.interface.http', '$.interface.timer', '$.service.db'] as const;

/**
 * Interfaces that belong to one app, such as `$.interface.apphook`: real components have them, and
 * are saved and shown.
 */
const APP_INTERFACE = /^\$(\.[a-z_][a-z0-9_]{0,63}){2,4}(\[\])?$/i;

const KNOWN = new Set<string>([
  ...ARRAY_TYPES,
  ...ARRAY_TYPES.map((type) => `${type}[]`),
  ...SINGLE_TYPES,
  ...SOURCE_TYPES,
]);

/** Names that `this` has itself, or that would change what `this` is. */
const RESERVED = new Set(['$emit', '__proto__', 'constructor', 'prototype']);

/**
 * `props` of a component as a list of plain data, in the author's order. An action may have the
 * interfaces of sources: real ones share their props with a source, and nothing comes of it.
 */
export function judgeProps(props: unknown, errors: FieldError[]): PropDefinition[] {
  if (props === undefined || props === null) return [];
  if (typeof props !== 'object' || Array.isArray(props)) {
    errors.push({ path: 'props', message: 'props must be an object of prop definitions' });
    return [];
  }
  const entries = Object.entries(props);
  const limit = platformLimit('maxProps', entries.length);
  if (limit.used > limit.value)
    errors.push({ path: 'props', message: `a component has at most ${limit.value} props, not ${limit.used}`, limit });
  const judged: PropDefinition[] = [];
  for (const [name, value] of entries.slice(0, limit.value)) {
    const definition = judgeProp(name, value, errors);
    if (definition !== undefined) judged.push(definition);
    if (errors.length >= MAX_ERRORS) break;
  }
  return judged;
}

function judgeProp(name: string, value: unknown, errors: FieldError[]): PropDefinition | undefined {
  const path = `props.${name.slice(0, MAX_SHOWN_NAME_CHARS)}`;
  if (RESERVED.has(name)) errors.push({ path, message: 'this name is reserved' });
  const limit = platformLimit('maxNameChars', name.length);
  if (limit.used > limit.value)
    errors.push({ path, message: `is a name of more than ${limit.value} characters`, limit });
  // The short form: db: '$.service.db'
  const definition: unknown = typeof value === 'string' ? { type: value } : value;
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    errors.push({ path, message: `must be a prop definition such as { type: 'string' }` });
    return undefined;
  }
  const depth = platformLimit('maxPropDepth', depthOf(definition, LIMITS.maxPropDepth));
  if (depth.used > depth.value) {
    errors.push({ path, message: `is nested too deeply: more than ${depth.value} levels`, limit: depth });
    return undefined;
  }
  const fields = definition as Record<string, unknown>;
  const type = judgeType(path, fields, errors);
  judgeFields(path, type, fields, errors);
  return type === undefined ? undefined : { ...fields, name, type };
}

const TOO_FAR = 'through too many others: a propDefinition must not lead back to itself';

/**
 * `[app, name]` as the isolate shows it, with the names that the app has where `name` is none of
 * them.
 */
function findTakenProblem(taken: unknown): string | undefined {
  if (!Array.isArray(taken) || typeof taken[1] !== 'string')
    return 'must be [app, name, inputValues]: an app, and the name of a prop of it';
  const [app, name, known] = taken as [unknown, string, unknown?];
  if (known === false) return `leads to propDefinitions.${name.slice(0, MAX_SHOWN_NAME_CHARS)} ${TOO_FAR}`;
  if (!Array.isArray(known)) return undefined;
  const names = known.filter((one) => typeof one === 'string');
  const whose = typeof app === 'string' ? `The app ${app.slice(0, MAX_SHOWN_NAME_CHARS)}` : 'The app';
  return `${whose} has no propDefinitions.${name.slice(0, MAX_SHOWN_NAME_CHARS)}: ${didYouMean(name, names)}`;
}

function judgeType(path: string, fields: Record<string, unknown>, errors: FieldError[]): string | undefined {
  const { type } = fields;
  // A prop taken over from an app has its type there.
  const taken = fields['propDefinition'];
  if (taken !== undefined) {
    const problem = findTakenProblem(taken);
    if (problem !== undefined) errors.push({ path: `${path}.propDefinition`, message: problem });
    if (type === undefined) return 'any';
  }
  if (typeof type !== 'string') {
    errors.push({ path: `${path}.type`, message: type === undefined ? 'type is missing' : 'type must be a string' });
    return undefined;
  }
  const single = type.endsWith('[]') ? type.slice(0, -2) : type;
  if (single !== type && KNOWN.has(single) && !KNOWN.has(type)) {
    errors.push({ path: `${path}.type`, message: `'${type}' is not a prop type: ${single} has no array form` });
    return undefined;
  }
  if (!KNOWN.has(type) && !APP_INTERFACE.test(type)) {
    errors.push({ path: `${path}.type`, message: `'${type.slice(0, 100)}' is not a prop type` });
    return undefined;
  }
  return type;
}
