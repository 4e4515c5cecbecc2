import { HeadwaterError } from '@headwater/shared';

/** By then some hundred runs have ended. */
const RETRY_AFTER_SECONDS = 1;

/**
 * The error for a client that waits for the component's own answer, if this node has no room for
 * the run.
 */
export function noRoomToAnswer(): HeadwaterError {
  return new HeadwaterError('UNAVAILABLE', 'Too many runs wait on this node for one more to answer; try again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
