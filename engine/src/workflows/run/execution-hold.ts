import type { LeaseCheck } from '../../db/index.ts';
import type { HeldInvocation } from '../../events/index.ts';

/**
 * Whether this node still holds an execution. A node that stalled or was cut off may have been
 * declared dead, and another may have run the same steps. So external effects wait until no other
 * node can hold the execution.
 */
export interface ExecutionHold {
  /** At once while the node is known to live; else as soon as the database has said so. */
  isOurs(): true | Promise<boolean>;
  /** Fires when it is known that another holder has it. */
  lost: AbortSignal;
}

export function createHold(
  lease: LeaseCheck,
  { leasedBy }: Pick<HeldInvocation, 'leasedBy'>,
  lost: AbortSignal,
): ExecutionHold {
  return {
    isOurs() {
      if (!lost.aborted && lease.isCertain(leasedBy)) return true;
      return lost.aborted ? Promise.resolve(false) : lease.confirm(leasedBy).then((isOurs) => isOurs && !lost.aborted);
    },
    lost,
  };
}
