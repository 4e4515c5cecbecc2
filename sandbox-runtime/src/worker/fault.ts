import type { ExceededLimit } from '@headwater/shared';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { SandboxFault } from '../bridge/messages.ts';
import { isRunLimit } from '../bridge/run-limit-names.ts';

/** Error of a run in this process. */
export interface Fault {
  code: SandboxFault;
  message: string;
  stack?: string;
  details?: string;
  limit?: ExceededLimit;
}

/** V8's message for a buffer that exceeds the isolate's memory. */
const NO_ROOM = 'RangeError: Array buffer allocation failed';

/** The limit behind a message of V8 about memory; undefined for any other message. */
export function roomLimitOf(message: string, memoryMb: number): ExceededLimit | undefined {
  return message === NO_ROOM ? { name: 'memoryMb', value: memoryMb, used: memoryMb } : undefined;
}

/** More than the guest cuts them to. */
const MAX_MESSAGE_CHARS = 8_192;
const MAX_STACK_CHARS = 16_384;
const MAX_DETAILS_CHARS = 8_192;
/** Length of all three as JSON, with every character escaped. */
const MAX_FAILURE_CHARS = 6 * (MAX_MESSAGE_CHARS + MAX_STACK_CHARS + MAX_DETAILS_CHARS);

/**
 * Parses the guest's report of a failed run. The guest writes it with intrinsics of its own, yet
 * every member is checked. A value that is not text could claim any length.
 */
export function readFailure(json: string, memoryMb: number): Fault {
  const { message, stack, details, isConfiguration, limit: told } = failureFields(json);
  const text =
    typeof message === 'string'
      ? message.slice(0, MAX_MESSAGE_CHARS)
      : 'The component threw a value that cannot be read';
  const limit = isLimit(told) ? told : roomLimitOf(text, memoryMb);
  const code = isConfiguration === true ? 'CONFIGURATION_ERROR' : 'COMPONENT_ERROR';
  const fault: Fault = limit !== undefined && isRunLimit(limit.name) ? limitFault(limit) : { code, message: text };
  if (typeof stack === 'string') fault.stack = stack.slice(0, MAX_STACK_CHARS);
  if (typeof details === 'string') fault.details = details.slice(0, MAX_DETAILS_CHARS);
  return fault;
}

/** Members of the guest's error report; empty if it is too long or not JSON. */
export function failureFields(json: unknown): Record<string, unknown> {
  if (typeof json !== 'string' || json.length > MAX_FAILURE_CHARS) return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isLimit(value: unknown): value is ExceededLimit {
  if (typeof value !== 'object' || value === null) return false;
  const { name, value: most, used } = value as Record<string, unknown>;
  return typeof name === 'string' && Number.isFinite(most) && Number.isFinite(used);
}

/**
 * Fault of a run that got no time because another run computed. The run is repeated; this is its
 * fault if that is impossible.
 */
export function blockedFault(blockedMs: number): Fault {
  const ms = Math.round(blockedMs);
  return { code: 'WALL_LIMIT', message: `Another run of this component computed for ${ms} ms while this one waited` };
}

/** Fault of a run that met its limit because its process got too little of the processors. */
export function starvedFault(limit: ExceededLimit, starvedMs: number): Fault {
  const { message, ...fault } = limitFault(limit);
  return { ...fault, message: `${message}; for ${Math.round(starvedMs)} ms of them it got no processor` };
}

/** Memory belongs to all runs of an isolate; anything else is a matter of one of them. */
export function faultForOtherRuns(fault: Fault): Fault {
  if (fault.code === 'MEMORY_LIMIT') return fault;
  return { code: fault.code, message: `Another run of this component was ended: ${fault.message}` };
}
