import { LIMITS } from '@headwater/shared';
import { createHeldBytes, type Holding } from './held-bytes.ts';

/**
 * Bodies that have not arrived whole: their senders may take a minute for them, with as many connections as they like. Beyond
 * LIMITS.maxUnfinishedBodyBytes of one account, connections of those that were begun first are closed.
 */
export interface UnfinishedBodies {
  /** `announced`: bytes, undefined where they are not. Undefined where it is too small to count. */
  begin(accountId: string, announced: number | undefined, cutOff: () => void): Holding | undefined;
}

export function createUnfinishedBodies(): UnfinishedBodies {
  const held = createHeldBytes(LIMITS.maxUnfinishedBodyBytes);
  return {
    begin(accountId, announced, cutOff) {
      if (announced !== undefined && announced <= LIMITS.smallBodyBytes) return undefined;
      return held.hold(accountId, cutOff);
    },
  };
}
