import { ACCOUNT_LIMITS, type ExceededLimit } from '@headwater/shared';

/** Whether a run can say that it ended by this limit. Those of its process and of its workflow are said from outside. */
export function isRunLimit(name: unknown): name is ExceededLimit['name'] {
  return typeof name === 'string' && (Object.hasOwn(ACCOUNT_LIMITS, name) || name === 'maxFetchBytesPerTenant');
}
