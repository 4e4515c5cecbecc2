import type { Sealer } from '../../secrets/seal.ts';

/** As sealed texts begin, and no JSON does. */
const SEALED = 'v';

/**
 * What `$.flow.rerun` was given, as it waits in the database for the next run: a step may have put
 * its secrets there. In rows from before it was sealed it is JSON text, as it is when opened.
 */
export function sealContext(sealer: Pick<Sealer, 'seal'>, accountId: string, json: string): string {
  return sealer.seal(accountId, json);
}

/** Throws SealError. */
export function openContext(sealer: Pick<Sealer, 'open'>, accountId: string, stored: string): string {
  return stored.startsWith(SEALED) ? sealer.open(accountId, stored) : stored;
}
