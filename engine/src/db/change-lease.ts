import { HeadwaterError } from '@headwater/shared';

/** The source that is being changed, and which of its changes that is. */
export interface ChangeLease {
  accountId: string;
  sourceId: string;
  changeId: string;
  /**
   * The node that has it: one of the version before, which takes it over, says nothing of the
   * change.
   */
  nodeId: string;
}

/** How a lease begins. */
export interface LeaseTerms extends Pick<ChangeLease, 'changeId' | 'nodeId'> {
  /** Until it has to be extended. */
  seconds: number;
}

export function leaseLost(sourceId: string): HeadwaterError {
  const message = `Another node took over the change of source ${sourceId}, because this node did not renew its lease in time. Read the source for its state`;
  // Hooks have run by now.
  return new HeadwaterError('CONFLICT', message, { leftBehind: true });
}
