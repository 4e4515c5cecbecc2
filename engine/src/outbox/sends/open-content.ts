import type { Sealer } from '../../secrets/index.ts';
import type { SendContent } from './new-send.ts';

/** JSON text of the argument of `$.send`, with its secrets. */
export function openContent(sealer: Pick<Sealer, 'open'>, accountId: string, { payload, sealed }: SendContent): string {
  return sealed === undefined ? payload : sealer.open(accountId, sealed);
}
