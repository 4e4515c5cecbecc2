import type { Fault } from './fault.ts';

/** Name under which the component's code runs; frames of it are the author's. */
export const ISOLATE_COMPONENT_FILE = 'hw:component';
const MAX_MESSAGE_CHARS = 4_096;
const MAX_STACK_CHARS = 8_192;
/** If an error cannot be copied, isolated-vm throws an error of its own that names itself. */
const NOT_COPIED = 'isolated-vm';
const NO_ERROR = 'The component threw a value that is no error';
/** Behind it are frames of this process. */
const BOUNDARY = '(<isolated-vm boundary>)';
const PLACE_IN_MESSAGE = new RegExp(`\\[(${ISOLATE_COMPONENT_FILE}:\\d+:\\d+)\\]`);

/**
 * Fault for an error while a component loads, as isolated-vm copied it. The copied stack ends with
 * frames of this process, which are left out.
 */
export function readThrown(thrown: unknown): Fault {
  if (typeof thrown !== 'object' || thrown === null)
    return { code: 'COMPONENT_ERROR', message: `Thrown: ${String(thrown)}`.slice(0, MAX_MESSAGE_CHARS) };
  const { name, message, stack, details, isConfiguration } = thrown as Record<string, unknown>;
  const isReadable = typeof message === 'string' && !message.includes(NOT_COPIED);
  const text = isReadable ? message : NO_ERROR;
  // As the guest says it, or as the library copies the name.
  if (isConfiguration === true || name === 'ConfigurationError')
    return withFrames({ code: 'CONFIGURATION_ERROR', message: text.slice(0, MAX_MESSAGE_CHARS) }, stack, details);
  // A message may say where, as V8's syntax errors do: `Unexpected token [hw:component:1:9]`.
  const named = typeof name === 'string' && name !== 'Error' && name !== '' ? `${name}: ${text}` : text;
  return withFrames({ code: 'COMPONENT_ERROR', message: named.slice(0, MAX_MESSAGE_CHARS) }, stack, details);
}

/**
 * Passes what isolated-vm copied of the reason of a rejection to the guest, which may still have
 * the reason itself. As JSON: `message` and `shown` of an object, otherwise its `value`. `call`:
 * number of the call into the isolate that failed with it.
 */
export function copiedReason(thrown: unknown, call: number): string {
  if (typeof thrown === 'bigint') return JSON.stringify({ digits: String(thrown) });
  if (typeof thrown !== 'object' || thrown === null) return JSON.stringify({ value: thrown });
  const { name, message } = thrown as Record<string, unknown>;
  const text = String(message).slice(0, MAX_MESSAGE_CHARS);
  const { stack = '' } = readThrown(thrown);
  const shown = text.includes(NOT_COPIED) ? NO_ERROR : text;
  return JSON.stringify({ message: text, shown, name: typeof name === 'string' ? name : undefined, stack, call });
}

function withFrames(plain: Fault, stack: unknown, details: unknown): Fault {
  const fault = typeof details === 'string' ? { ...plain, details: details.slice(0, MAX_STACK_CHARS) } : plain;
  if (typeof stack !== 'string') return fault;
  const lines = stack.slice(0, MAX_STACK_CHARS * 4).split('\n');
  const boundary = lines.findIndex((line) => line.includes(BOUNDARY));
  const frames = boundary === -1 ? lines : lines.slice(0, boundary);
  const own = frames.flatMap((line) => frameOf(line) ?? []);
  return own.length > 0 ? { ...fault, stack: own.join('\n').slice(0, MAX_STACK_CHARS) } : fault;
}

/** The isolate may have mapped it: which frames are the author's, the host knows. */
function frameOf(line: string): string | undefined {
  if (line.startsWith('    at ')) return line;
  // `SyntaxError: … [hw:component:1:9]` names the place in its first line instead of a frame.
  const place = PLACE_IN_MESSAGE.exec(line)?.[1];
  return place === undefined ? undefined : `    at ${place}`;
}
