import type { Fault } from './fault.ts';
import { COMPONENT_FILE } from './guest-isolate.ts';

const MAX_MESSAGE_CHARS = 4_096;
const MAX_STACK_CHARS = 8_192;

/**
 * What a component threw while it was loaded, as the library copied it out. The copy's stack has frames of this process
 * appended: only frames of the component are kept.
 */
export function readThrown(thrown: unknown): Fault {
  if (typeof thrown !== 'object' || thrown === null)
    return { code: 'COMPONENT_ERROR', message: `Thrown: ${String(thrown)}`.slice(0, MAX_MESSAGE_CHARS) };
  const { name, message, stack, isConfiguration } = thrown as Record<string, unknown>;
  // What cannot be copied out comes as an error of the library, which says what it is.
  const isReadable = typeof message === 'string' && !message.includes('isolated-vm');
  const text = isReadable ? message : 'The component threw a value that is no error';
  // As the guest says it, or as the library copies the name.
  if (isConfiguration === true || name === 'ConfigurationError')
    return withFrames({ code: 'CONFIGURATION_ERROR', message: text.slice(0, MAX_MESSAGE_CHARS) }, stack);
  // A message may say where, as V8's syntax errors do: `Unexpected token [hw:component:1:9]`.
  const named = typeof name === 'string' && name !== 'Error' && name !== '' ? `${name}: ${text}` : text;
  return withFrames({ code: 'COMPONENT_ERROR', message: named.slice(0, MAX_MESSAGE_CHARS) }, stack);
}

function withFrames(fault: Fault, stack: unknown): Fault {
  if (typeof stack !== 'string') return fault;
  const frames = stack.slice(0, MAX_STACK_CHARS * 4).split('\n');
  const own = frames.filter((line) => line.includes(COMPONENT_FILE)).map((line) => frameOf(line));
  return own.length > 0 ? { ...fault, stack: own.join('\n').slice(0, MAX_STACK_CHARS) } : fault;
}

// `SyntaxError: … [hw:component:1:9]` names the place in its first line instead of a frame.
function frameOf(line: string): string {
  if (line.startsWith('    at ')) return line;
  const place = /\[(hw:component:\d+:\d+)\]/.exec(line)?.[1];
  return place === undefined ? '' : `    at ${place}`;
}
