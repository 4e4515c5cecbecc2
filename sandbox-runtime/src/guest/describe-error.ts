import { formatValue } from './format-value.ts';
import { applyFunction, sliceText, toText } from './intrinsics.ts';

const MAX_MESSAGE_CHARS = 4_096;
const MAX_STACK_CHARS = 8_192;
const MAX_READ_CHARS = 64 * 1024;
/** What a line of a stack begins with that is a frame. */
const FRAME = '    at ';
const { indexOf } = String.prototype;
const FETCH_FAILED = 'fetch failed';
/** By name: components throw the class of a package, each its own copy of it. */
const CONFIGURATION_ERROR = 'ConfigurationError';

export interface DescribedError {
  message: string;
  stack?: string;
  /** The component does not accept how it is configured, and the message is for whoever configures it. */
  isConfiguration?: true;
}

/**
 * Turns whatever was thrown into capped strings. It runs here, in the isolate and on its clock, because reading `message` or
 * `stack` may run code of the component: getters, proxies, Error.prepareStackTrace.
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
    return { message: cut(`Thrown: ${formatValue(thrown)}`, MAX_MESSAGE_CHARS) };
  const { name, message, stack } = thrown as { name?: unknown; message?: unknown; stack?: unknown };
  if (typeof message !== 'string' && !(thrown instanceof Error)) {
    return { message: cut(`Thrown: ${formatValue(thrown)}`, MAX_MESSAGE_CHARS) };
  }
  const text = withReason(toText(message), thrown);
  const isConfiguration = name === CONFIGURATION_ERROR || thrown.constructor?.name === CONFIGURATION_ERROR;
  const isNamed = typeof name === 'string' && name !== '' && name !== 'Error' && !isConfiguration;
  const named = isNamed ? `${name}: ${text}` : text;
  const described: DescribedError = { message: cut(named === '' ? 'Error' : named, MAX_MESSAGE_CHARS) };
  if (isConfiguration) described.isConfiguration = true;
  if (typeof stack === 'string') described.stack = cut(frames(stack), MAX_STACK_CHARS);
  return described;
}

/** What `fetch` rejects with says nothing by itself: whoever reads the record of a run wants to know why. */
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
