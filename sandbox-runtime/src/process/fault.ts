import { ACCOUNT_LIMITS, type ExceededLimit } from '@headwater/shared';
import { limitFault } from '../protocol/exceeded-limit.ts';
import type { SandboxFault } from '../protocol/guest-to-host.ts';

/** What a run of this process ends with. */
export interface Fault {
  code: SandboxFault;
  message: string;
  stack?: string;
  limit?: ExceededLimit;
}

/** What V8 says of a buffer that the memory of the isolate has no room for. */
const NO_ROOM = 'RangeError: Array buffer allocation failed';

/** What a guest says about the end of its run. It writes it with intrinsics of its own, so it is JSON unless the isolate is broken. */
export function readFailure(json: string, memoryMb: number): Fault {
  const {
    message,
    stack,
    limit: told,
  } = JSON.parse(json) as { message: string; stack?: string; limit?: ExceededLimit };
  const limit =
    told === undefined && message === NO_ROOM ? ({ name: 'memoryMb', value: memoryMb, used: memoryMb } as const) : told;
  const isKnown = limit !== undefined && Object.hasOwn(ACCOUNT_LIMITS, limit.name);
  const fault: Fault = isKnown ? limitFault(limit) : { code: 'COMPONENT_ERROR', message };
  if (stack !== undefined) fault.stack = stack;
  return fault;
}
