import type { ExceededLimit } from '@headwater/shared';
import { limitFault } from '../protocol/exceeded-limit.ts';
import type { SandboxFault } from '../protocol/guest-to-host.ts';
import { isRunLimit } from '../protocol/run-limit-names.ts';

/** What a run of this process ends with. */
export interface Fault {
  code: SandboxFault;
  message: string;
  stack?: string;
  limit?: ExceededLimit;
}

/** What V8 says of a buffer that the memory of the isolate has no room for. */
const NO_ROOM = 'RangeError: Array buffer allocation failed';

/** The limit behind a message of V8 about memory; undefined for any other message. */
export function roomLimitOf(message: string, memoryMb: number): ExceededLimit | undefined {
  return message === NO_ROOM ? { name: 'memoryMb', value: memoryMb, used: memoryMb } : undefined;
}

/** What a guest says about the end of its run. It writes it with intrinsics of its own, so it is JSON unless the isolate is broken. */
export function readFailure(json: string, memoryMb: number): Fault {
  const {
    message,
    stack,
    isConfiguration,
    limit: told,
  } = JSON.parse(json) as { message: string; stack?: string; isConfiguration?: boolean; limit?: ExceededLimit };
  const limit = told ?? roomLimitOf(message, memoryMb);
  const isKnown = limit !== undefined && isRunLimit(limit.name);
  const code = isConfiguration === true ? 'CONFIGURATION_ERROR' : 'COMPONENT_ERROR';
  const fault: Fault = isKnown ? limitFault(limit) : { code, message };
  if (stack !== undefined) fault.stack = stack;
  return fault;
}

/** Memory belongs to all runs of an isolate; anything else is a matter of one of them. */
export function faultOfOthers(fault: Fault): Fault {
  if (fault.code === 'MEMORY_LIMIT') return fault;
  return { code: fault.code, message: `Another run of this component was ended: ${fault.message}` };
}
