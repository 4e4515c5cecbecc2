import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { Sql } from '../../db/database.ts';
import type { GuestFetch } from '../../egress/guest-fetch.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { Mailer } from './email/mailer.ts';

/** Dependencies of the transports for `$.send`. */
export interface SendTransportParts {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
  fetch: GuestFetch['fetch'];
  mailer: Mailer;
  limits: Pick<LimitsCache, 'get'>;
}
