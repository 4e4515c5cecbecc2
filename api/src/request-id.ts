import { randomToken } from '@headwater/shared';

export const REQUEST_ID_HEADER = 'x-request-id';

// The caller chooses this id, and it appears in logs and headers. So it cannot contain a line
// break.
const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

/** The caller's own `x-request-id` if it is valid, else a new one. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && ACCEPTED.test(given) ? given : `req_${randomToken(16)}`;
}
