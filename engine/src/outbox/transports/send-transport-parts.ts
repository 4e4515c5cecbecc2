import type { LimitsCache } from '../../accounts/index.ts';
import type { Sql } from '../../db/index.ts';
import type { GuestFetch } from '../../egress/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { Mailer } from './email/mailer.ts';

/** Dependencies of the transports for `$.send`. */
export interface SendTransportParts {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
  fetch: GuestFetch['fetch'];
  mailer: Mailer;
  limits: Pick<LimitsCache, 'get'>;
}
