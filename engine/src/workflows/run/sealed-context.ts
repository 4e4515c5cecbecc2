import type { Sealer } from '../../secrets/seal.ts';

/** As sealed texts begin, and no JSON does. */
const SEALED = 'v';

/**
 * Seals the argument of `$.flow.rerun` for the next run, because a step may put secrets into it.
 * Older rows have plain JSON text; openContext returns it unchanged.
 */
export function sealContext(sealer: Pick<Sealer, 'seal'>, accountId: string, json: string): string {
  return sealer.seal(accountId, json);
}

/** Throws SealError. */
export function openContext(sealer: Pick<Sealer, 'open'>, accountId: string, stored: string): string {
  return stored.startsWith(SEALED) ? sealer.open(accountId, stored) : stored;
}
