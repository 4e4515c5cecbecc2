import { isUtf8 } from 'node:buffer';
import type { z } from '@hono/zod-openapi';
import {
  type ExceededLimit,
  type FieldError,
  findTooManyOfRequest,
  HeadwaterError,
  LIMITS,
  platformLimit,
} from '@headwater/shared';
import { unescapedBytes } from '../ingest/form-pairs.ts';
import { countUpTo } from '../ingest/multipart.ts';
import { withoutPlus } from '../without-plus.ts';
import { findMarked, type MarkedJson, markNumbers, numbersIn } from './exact-numbers.ts';
import { parseMarkedJson } from './json-text.ts';
import { findJsonDefect } from './json-value.ts';

/** Name of a parameter → how its text in the query string is read. */
export type ParameterKinds = ReadonlyMap<string, ParameterKind>;

/**
 * `any`: any JSON, kept with all digits of its numbers. `batch`: a list of objects with such
 * members.
 */
type ParameterKind = 'text' | 'number' | 'boolean' | 'object' | 'any' | 'batch';

/** Reads from the schema how each parameter looks as text; done once per endpoint. */
export function parameterKinds(schema: z.ZodObject): ParameterKinds {
  return new Map(Object.entries(schema.shape).map(([name, type]) => [name, kindOf(type as SchemaNode)]));
}

interface SchemaNode {
  def: {
    type: string;
    innerType?: SchemaNode;
    in?: SchemaNode;
    element?: SchemaNode;
    shape?: Record<string, SchemaNode>;
  };
}

function kindOf(node: SchemaNode): ParameterKind {
  const inner = node.def.innerType ?? node.def.in;
  if (inner !== undefined) return kindOf(inner);
  switch (node.def.type) {
    case 'number':
    case 'boolean':
      return node.def.type;
    case 'record':
    case 'object':
      return 'object';
    case 'array':
      return Object.values(node.def.element?.def.shape ?? {}).some((member) => kindOf(member) === 'any')
        ? 'batch'
        : 'object';
    case 'unknown':
    case 'any':
      return 'any';
    default:
      return 'text';
  }
}

/**
 * Names that the endpoint does not know are `ignored`, or `kept` for the schema or the handler to
 * check.
 */
export type UnknownNames = 'ignored' | 'kept';

/**
 * Parameters of a request, from the query string and from `text`, whose values win. `text`: the
 * body, JSON or a form; '' if absent.
 */
export function readParameters(
  { url, headers }: Pick<Request, 'url' | 'headers'>,
  text: string,
  known: ParameterKinds,
  unknown: UnknownNames = 'ignored',
): Record<string, unknown> {
  // No prototype: a body may have a member named `__proto__`.
  const given = Object.create(null) as Record<string, unknown>;
  const kindsFor = (names: Iterable<string>) => (unknown === 'kept' ? withNames(known, names) : known);
  const { search, searchParams: query } = new URL(url);
  if (unknown === 'kept') checkEscapes(search, 'query');
  takeText(given, query, kindsFor(query.keys()));
  if (text.trim() === '') return given;
  const contentType = headers.get('content-type')?.toLowerCase() ?? '';
  if (isForm(contentType, text)) {
    const limit = platformLimit('maxFormFields', countUpTo(text, '&', LIMITS.maxFormFields) + 1);
    if (limit.used > limit.value)
      throw invalid([{ path: 'body', message: `has more than ${limit.value} fields`, limit }]);
    checkEscapes(Buffer.from(text).toString('latin1'), 'body');
    const form = new URLSearchParams(withoutPlus(text));
    takeText(given, form, kindsFor(form.keys()));
  } else {
    const { value, marked } = parseMarkedJson(text, 'body');
    const body = objectOf(value);
    takeJson(given, body, kindsFor(Object.keys(body)), marked);
  }
  return given;
}

function withNames(known: ParameterKinds, names: Iterable<string>): ParameterKinds {
  return new Map([...[...names].map((name) => [name, 'any'] as const), ...known]);
}

// `curl -d '{…}'` announces a form and sends JSON.
function isForm(contentType: string, text: string): boolean {
  return contentType.startsWith('application/x-www-form-urlencoded') && !opensJson(text);
}

// No regular expression: over megabytes of spaces it takes the thread five times as long.
function opensJson(text: string): boolean {
  const first = text.trimStart().charAt(0);
  return first === '{' || first === '[';
}

const HIGH_ESCAPE = /%[89a-f][\da-f]/i;

/**
 * Refuses percent escapes that are not UTF-8. Decoding would store U+FFFD as if the client had sent
 * it.
 */
function checkEscapes(text: string, path: string): void {
  if (HIGH_ESCAPE.test(text) && !isUtf8(unescapedBytes(text)))
    throw invalid([{ path, message: 'has percent escapes that are not valid UTF-8' }]);
}

function takeText(into: Record<string, unknown>, from: URLSearchParams, kinds: ParameterKinds): void {
  const given = new Map<string, string[]>();
  // One pass over the input, which may be much longer than the list of known names.
  for (const [name, value] of from) {
    if (!kinds.has(name)) continue;
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  for (const [name, values] of given) {
    const kind = kinds.get(name) ?? 'text';
    // `?limit=` says nothing: no number and no truth value is empty.
    if (values.length === 1 && values[0] === '' && (kind === 'number' || kind === 'boolean')) continue;
    into[name] = values.length === 1 ? fromText(name, values[0] as string, kind) : values;
  }
}

/** Text that does not fit its kind stays text, so that the schema reports the expected type. */
function fromText(name: string, text: string, kind: ParameterKind): unknown {
  switch (kind) {
    case 'number':
      return isNumber(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
    case 'object':
    case 'batch':
    case 'any': {
      const { value, marked } = kind === 'any' ? parseOrKeep(name, text) : parseMarkedJson(text, name);
      return numbersOf(name, checkDepth(value, name), kind, marked);
    }
    default:
      return text;
  }
}

/**
 * A number of more digits is none that anything here could take, and to look at millions of them
 * takes the thread a while.
 */
const MAX_NUMBER_CHARS = 400;

function isNumber(text: string): boolean {
  return text.length <= MAX_NUMBER_CHARS && /^-?\d+(\.\d+)?$/.test(text);
}

function parseOrKeep(name: string, text: string): ReturnType<typeof parseMarkedJson> {
  const tooMany = opensJson(text) ? findTooManyOfRequest(text) : undefined;
  if (tooMany !== undefined) throw invalid([{ path: name, ...tooMany }]);
  const isJson = /^[\s[{"\d-]/.test(text);
  const marked = isJson ? markNumbers(text, name) : undefined;
  try {
    return { value: JSON.parse(marked?.text ?? text) as unknown, marked };
  } catch {
    return { value: text, marked: undefined }; // a bare word is a string: `?event=hello`
  }
}

function objectOf(body: unknown): object {
  if (body === null) return {}; // what some clients send for "no body"
  if (typeof body === 'object' && !Array.isArray(body)) return body;
  throw invalid([{ path: 'body', message: 'must be a JSON object' }]);
}

function takeJson(
  into: Record<string, unknown>,
  body: object,
  kinds: ParameterKinds,
  marked: MarkedJson | undefined,
): void {
  for (const [name, kind] of kinds) {
    if (!Object.hasOwn(body, name)) continue;
    const value = (body as Record<string, unknown>)[name];
    if (kind === 'object' || kind === 'batch') checkSizes(value, name);
    into[name] = numbersOf(name, checkDepth(value, name), kind, marked);
  }
}

/** Objects are stored as they were parsed, so a number in one that would change is refused. */
function numbersOf(name: string, value: unknown, kind: ParameterKind, marked: MarkedJson | undefined): unknown {
  if (marked === undefined) return value;
  if (kind !== 'object') return numbersIn(value, marked, kind === 'any' || kind === 'batch');
  const path = findMarked(value, marked, name);
  if (path === undefined) return value;
  throw invalid([{ path, message: 'is a number that would change when it is stored: give it as text' }]);
}

/** Checks each step and trigger of a workflow, and its props, separately. */
function checkSizes(value: unknown, name: string): void {
  checkSize(value, name);
  if (!Array.isArray(value)) return;
  for (const [i, one] of (value as unknown[]).entries()) {
    checkSize(one, `${name}.${i}`);
    if (typeof one !== 'object' || one === null) continue;
    for (const member of ['props', 'configured_props'])
      checkSize((one as Record<string, unknown>)[member], `${name}.${i}.${member}`);
  }
}

/** Nothing here has that many members; a schema takes its time to look at each. */
function checkSize(value: unknown, name: string): void {
  if (typeof value !== 'object' || value === null) return;
  // A schema would leave it out.
  if (Object.hasOwn(value, '__proto__')) throw invalid([{ path: `${name}.__proto__`, message: 'is a reserved name' }]);
  const limit = platformLimit('maxFormFields', Object.keys(value).length);
  if (limit.used > limit.value) throw invalid([{ path: name, message: `has more than ${limit.value} members`, limit }]);
}

function checkDepth(value: unknown, name: string): unknown {
  const defect = findJsonDefect(value, name, false);
  if (defect !== undefined) throw invalid([defect]);
  return value;
}

/**
 * Validates; every problem at once, each with the parameter's path. `unknown`: problems that the
 * schema does not see.
 */
export function checkParameters<S extends z.ZodObject>(
  schema: S,
  given: Record<string, unknown>,
  unknown: readonly FieldError[] = [],
): z.output<S> {
  const result = schema.safeParse(given, { error: explainIssue });
  if (result.success && unknown.length === 0) return result.data;
  const firstByPath = new Map(unknown.map((error) => [error.path, error]));
  for (const issue of result.error?.issues ?? []) {
    const path = issue.path.map(String).join('.') || 'body';
    if (!firstByPath.has(path)) firstByPath.set(path, { path, message: issue.message, ...limitOf(issue) });
  }
  throw invalid([...firstByPath.values()]);
}

/** Limit that `exceed` attached to the issue. */
function limitOf(issue: z.core.$ZodIssue): { limit?: ExceededLimit } {
  const limit = issue.code === 'custom' ? (issue.params?.['limit'] as ExceededLimit | undefined) : undefined;
  return limit === undefined ? {} : { limit };
}

interface Issue {
  code?: string;
  origin?: unknown;
  input?: unknown;
  expected?: unknown;
  values?: unknown;
  minimum?: unknown;
  maximum?: unknown;
}

/** The message of an issue of a parameter. Undefined: that of zod. */
export function explainIssue(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return explainType(issue);
    case 'invalid_value':
      return Array.isArray(issue.values) ? `must be one of ${issue.values.join(', ')}` : undefined;
    case 'too_small':
      return isNumeric(issue) ? `must be at least ${String(issue.minimum)}` : undefined;
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${String(issue.maximum)} characters`;
      return isNumeric(issue) ? `must be at most ${String(issue.maximum)}` : undefined;
    default:
      return undefined;
  }
}

function isNumeric({ origin }: Issue): boolean {
  return origin === 'number' || origin === 'int';
}

function explainType({ input, expected }: Issue): string {
  if (input === undefined) return 'is required';
  if (expected === 'int' && typeof input === 'number') return 'must be a whole number';
  const got = Array.isArray(input) ? 'array' : input === null ? 'null' : typeof input;
  return `must be of type ${String(expected)}, not ${got}`;
}

/** Bounds the path of each problem, because the client chooses the length of its names. */
const MAX_SHOWN_PATH_CHARS = 500;

/** `lead`: what stands before the list of problems. */
export function invalid(all: readonly FieldError[], lead = 'Invalid parameters'): HeadwaterError {
  const fields = all
    .slice(0, LIMITS.maxProblemErrors)
    .map((one) => ({ ...one, path: one.path.slice(0, MAX_SHOWN_PATH_CHARS) }));
  const list = fields.map((field) => `${field.path} ${field.message}`).join('; ');
  return new HeadwaterError('INVALID_REQUEST', `${lead}: ${list}`, { fields });
}
