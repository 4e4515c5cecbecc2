import type { ExceededLimit } from '@headwater/shared';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { SandboxFault } from '../bridge/messages.ts';
import { isRunLimit } from '../bridge/run-limit-names.ts';

/** What a run of this process ends with. */
export interface Fault {
  code: SandboxFault;
  message: string;
  stack?: string;
  details?: string;
  limit?: ExceededLimit;
}

/** What V8 says of a buffer that the memory of the isolate has no room for. */
const NO_ROOM = 'RangeError: Array buffer allocation failed';

/** The limit behind a message of V8 about memory; undefined for any other message. */
export function roomLimitOf(message: string, memoryMb: number): ExceededLimit | undefined {
  return message === NO_ROOM ? { name: 'memoryMb', value: memoryMb, used: memoryMb } : undefined;
}

/** More than the guest cuts them to. */
const MAX_MESSAGE_CHARS = 8_192;
const MAX_STACK_CHARS = 16_384;
const MAX_DETAILS_CHARS = 8_192;
/** Of both as JSON, each character as an escape. */
const MAX_FAILURE_CHARS = 6 * (MAX_MESSAGE_CHARS + MAX_STACK_CHARS + MAX_DETAILS_CHARS);

/**
 * What a guest says about the end of its run. It writes it with intrinsics of its own; nothing in
 * it is taken for what it should be all the same: what is sent as a text without being one has a
 * length of its own choice.
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

/** What a guest says of an error, as long as it may be; nothing of any other text. */
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
 * Of a run that had no time, since another one computed. It is run again; this is its end where
 * that cannot be.
 */
export function blockedFault(blockedMs: number): Fault {
  const ms = Math.round(blockedMs);
  return { code: 'WALL_LIMIT', message: `Another run of this component computed for ${ms} ms while this one waited` };
}

/** Memory belongs to all runs of an isolate; anything else is a matter of one of them. */
export function faultOfOthers(fault: Fault): Fault {
  if (fault.code === 'MEMORY_LIMIT') return fault;
  return { code: fault.code, message: `Another run of this component was ended: ${fault.message}` };
}
