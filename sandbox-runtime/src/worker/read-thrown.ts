import type { Fault } from './fault.ts';
import { ISOLATE_COMPONENT_FILE } from './guest-isolate.ts';

const MAX_MESSAGE_CHARS = 4_096;
const MAX_STACK_CHARS = 8_192;
/** Behind it are frames of this process. */
const BOUNDARY = '(<isolated-vm boundary>)';
const PLACE_IN_MESSAGE = new RegExp(`\\[(${ISOLATE_COMPONENT_FILE}:\\d+:\\d+)\\]`);

/**
 * Fault for an error while a component loads, as isolated-vm copied it. The copied stack ends with
 * frames of this process, which are left out.
 */
export function readThrown(thrown: unknown): Fault {
  // The digits of a large one take this thread for long.
  if (typeof thrown === 'bigint') return { code: 'COMPONENT_ERROR', message: 'Thrown: a bigint' };
  if (typeof thrown !== 'object' || thrown === null)
    return { code: 'COMPONENT_ERROR', message: `Thrown: ${cut(String(thrown))}` };
  const { name, message, stack, isConfiguration } = thrown as Record<string, unknown>;
  // If the error cannot be copied, isolated-vm throws an error of its own that names itself.
  const isReadable = typeof message === 'string' && !message.includes('isolated-vm');
  const text = isReadable ? cut(message) : 'The component threw a value that is not an error';
  // As the guest says it, or as the library copies the name.
  if (isConfiguration === true || name === 'ConfigurationError')
    return withFrames({ code: 'CONFIGURATION_ERROR', message: text }, stack);
  // A message may say where, as V8's syntax errors do: `Unexpected token [hw:component:1:9]`.
  const named = typeof name === 'string' && name !== 'Error' && name !== '' ? `${cut(name)}: ${text}` : text;
  return withFrames({ code: 'COMPONENT_ERROR', message: cut(named) }, stack);
}

/** Before it is joined to another: the component chooses its length, and this process copies it. */
function cut(text: string): string {
  return text.slice(0, MAX_MESSAGE_CHARS);
}

function withFrames(fault: Fault, stack: unknown): Fault {
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
