import { HeadwaterError } from '@headwater/shared';

/** By then some hundred runs have ended. */
const RETRY_AFTER_SECONDS = 1;

/**
 * What a client is told whose answer is the component's own, where this node has no room for its
 * run.
 */
export function noRoomToAnswer(): HeadwaterError {
  return new HeadwaterError('UNAVAILABLE', 'Too many runs wait on this node for one more to answer; try again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
