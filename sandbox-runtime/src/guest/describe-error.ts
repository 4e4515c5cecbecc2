import { applyFunction, ownKeys, sliceText, stringifyJson, toText } from './intrinsics.ts';
import { limitOfThrown } from './limit-error.ts';
import { inspectForLog, type InspectOptions } from './node/inspect.ts';

const MAX_MESSAGE_CHARS = 4_096;
const MAX_STACK_CHARS = 8_192;
const MAX_DETAILS_CHARS = 4_096;
const MAX_DETAIL_CHARS = 1_000;
const MAX_FIELD_CHARS = 200;
const ONE_LINE = { breakLength: Number.POSITIVE_INFINITY, compact: true };
const MAX_CAUSES = 5;
const { defineProperty, getPrototypeOf, prototype: ObjectPrototype } = Object;
const MAX_READ_CHARS = 64 * 1024;
/** Start of a stack line that is a frame. */
const FRAME = '    at ';
const { indexOf } = String.prototype;
const FETCH_FAILED = 'fetch failed';
/** By name: components throw the class of a package, each its own copy of it. */
const CONFIGURATION_ERROR = 'ConfigurationError';

export interface DescribedError {
  message: string;
  stack?: string;
  /** Further reasons: the error's causes, its `errors`, and the response that it concerns. */
  details?: string;
  /** The component rejects its configuration; the message is for the user who configures it. */
  isConfiguration?: true;
}

/**
 * Converts a thrown value to strings of limited length. It runs in the isolate, on its clock,
 * because reading `message` or `stack` may run component code: getters, proxies,
 * Error.prepareStackTrace.
 */
export function describeError(thrown: unknown): DescribedError {
  try {
    return readError(thrown);
  } catch {
    // Reading it threw again. There is nothing more to find out.
    return { message: 'The component threw a value that cannot be read' };
  }
}

function readError(thrown: unknown): DescribedError {
  if (typeof thrown !== 'object' || thrown === null)
    return { message: cut(`Thrown: ${shownWhole(thrown)}`, MAX_MESSAGE_CHARS) };
  const { name, message, stack } = thrown as { name?: unknown; message?: unknown; stack?: unknown };
  if (typeof message !== 'string' && !(thrown instanceof Error)) {
    return { message: cut(`Thrown: ${shownWhole(thrown)}`, MAX_MESSAGE_CHARS) };
  }
  const text = withReason(toText(message), thrown);
  const isConfiguration = name === CONFIGURATION_ERROR || thrown.constructor?.name === CONFIGURATION_ERROR;
  const isNamed = typeof name === 'string' && name !== '' && name !== 'Error' && !isConfiguration;
  const named = isNamed ? `${name}: ${text}` : text;
  const described: DescribedError = { message: cut(named === '' ? 'Error' : named, MAX_MESSAGE_CHARS) };
  if (isConfiguration) described.isConfiguration = true;
  const details = fieldsLine(thrown) + detailsOf(thrown, '  ', MAX_CAUSES);
  if (details !== '') described.details = cut(details, MAX_DETAILS_CHARS);
  if (typeof stack === 'string') described.stack = cut(frames(stack), MAX_STACK_CHARS);
  return described;
}

/** Shows the fields of an error besides its message, as Node does: `code`, `status` and others. */
function fieldsLine(thrown: object): string {
  if (!(thrown instanceof Error)) return `  [thrown]: ${cut(shownWhole(thrown, ONE_LINE), MAX_DETAIL_CHARS)}\n`;
  if (limitOfThrown(thrown) !== undefined) return '';
  const fields: Record<string, unknown> = {};
  for (const key of ownKeys(thrown)) {
    const value = (thrown as unknown as Record<string, unknown>)[key];
    if (!isFieldShown(key, value)) continue;
    const shown = typeof value === 'string' ? cut(value, MAX_FIELD_CHARS) : value;
    defineProperty(fields, key, { __proto__: null, value: shown, enumerable: true } as PropertyDescriptor);
  }
  const count = ownKeys(fields).length;
  return count === 0 ? '' : `  [fields]: ${cut(inspectForLog(fields, ONE_LINE), MAX_DETAIL_CHARS)}\n`;
}

/** As console shows it: a Response or a Buffer shows itself. */
function shownWhole(thrown: unknown, options?: InspectOptions): string {
  return inspectForLog(thrown, { ...options, customInspect: true });
}

function isFieldShown(key: string, value: unknown): boolean {
  if (key === 'name' || key === 'message' || key === 'stack') return false;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Lines on causes, on the errors of an AggregateError and on the answer that an HTTP client's error
 * holds.
 */
function detailsOf(thrown: object, indent: string, levels: number): string {
  const { cause, errors, response } = thrown as { cause?: unknown; errors?: unknown; response?: unknown };
  let text = answerLine(response, indent);
  if (levels === 0) return text;
  if (cause !== undefined && cause !== null) text += `${indent}[cause]: ${detailLines(cause, indent, levels)}`;
  if (Array.isArray(errors))
    for (let index = 0; index < errors.length && index < MAX_CAUSES; index += 1)
      text += `${indent}[errors]: ${detailLines(errors[index], indent, levels)}`;
  return text;
}

function detailLines(error: unknown, indent: string, levels: number): string {
  if (typeof error !== 'object' || error === null) return `${cut(inspectForLog(error), MAX_DETAIL_CHARS)}\n`;
  const { name, message, code } = error as { name?: unknown; message?: unknown; code?: unknown };
  const told = typeof message === 'string' ? message : inspectForLog(error);
  const named = typeof name === 'string' && name !== '' ? `${name}: ${told}` : told;
  const coded = typeof code === 'string' && code !== '' ? ` (${code})` : '';
  return `${cut(named, MAX_DETAIL_CHARS)}${coded}\n${detailsOf(error, `${indent}  `, levels - 1)}`;
}

/** The status and the beginning of the body, as axios, got, superagent and others keep them. */
function answerLine(response: unknown, indent: string): string {
  if (typeof response !== 'object' || response === null) return '';
  const { status, statusCode, data, body, text } = response as Record<string, unknown>;
  const code = typeof status === 'number' ? status : statusCode;
  if (typeof code !== 'number') return '';
  const content = data ?? body ?? text;
  const shown = typeof content === 'string' ? content : isPlainData(content) ? stringifyJson(content) : '';
  return `${indent}[response]: ${code} ${cut(shown, MAX_DETAIL_CHARS)}\n`;
}

function isPlainData(value: unknown): boolean {
  return (
    Array.isArray(value) || (typeof value === 'object' && value !== null && getPrototypeOf(value) === ObjectPrototype)
  );
}

/**
 * Adds the cause to `fetch failed`: alone, that message tells the reader of a run's record nothing.
 */
function withReason(message: string, thrown: object): string {
  if (message !== FETCH_FAILED) return message;
  const { cause } = thrown as { cause?: { message?: unknown } | null };
  const reason = cause?.message;
  return typeof reason === 'string' && reason !== '' ? `${message}: ${reason}` : message;
}

// The message may have many lines itself; only what looks like frames is kept.
function frames(stack: string): string {
  const text = sliceText(stack, 0, MAX_READ_CHARS);
  let kept = '';
  for (let start = 0; start < text.length; ) {
    const found = applyFunction(indexOf, text, ['\n', start]) as number;
    const end = found === -1 ? text.length : found;
    const line = sliceText(text, start, end);
    if (sliceText(line, 0, FRAME.length) === FRAME) kept += kept === '' ? line : `\n${line}`;
    start = end + 1;
  }
  return kept;
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${sliceText(text, 0, maxChars)}…` : text;
}
