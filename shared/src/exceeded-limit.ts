import type { AccountLimitName } from './limits/account-limits.ts';
import { LIMITS } from './limits/platform-limits.ts';

export type PlatformLimitName = keyof typeof LIMITS;

/**
 * Limits that are met as those of accounts are, and that accounts cannot have their own of: those
 * of the platform; `sandboxMemoryMb`, the memory, in MB, of a sandbox process, which runs of one
 * account share and HEADWATER_SANDBOX_MEMORY_MB sets; and settings of a workflow, by their names
 * there.
 */
export type OtherLimitName = PlatformLimitName | 'sandboxMemoryMb' | 'timeout_seconds' | 'queue_limit';

/**
 * Which limit a run or a request went over: its value, and how much was used or asked for (at
 * least), in the limit's unit.
 */
export interface ExceededLimit<Name extends string = AccountLimitName | OtherLimitName> {
  name: Name;
  value: number;
  used: number;
}

export function platformLimit(name: PlatformLimitName, used: number): ExceededLimit {
  return { name, value: LIMITS[name], used };
}
