import type { KeyCache, LimitsCache } from '../accounts/index.ts';
import type { Log, Principal } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import type { Mailer } from '../outbox/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { OidcOptions } from './oidc-client.ts';
import type { Passwords } from './passwords.ts';

/** Everything about people is made with these. */
export interface PeopleParts {
  sql: Sql;
  limits: Pick<LimitsCache, 'get'>;
  /** Remembers sessions; those that end are forgotten. */
  cache: Pick<KeyCache, 'forget' | 'forgetWhere'>;
  authenticate(bearer: string): Promise<Principal | undefined>;
  passwords: Passwords;
  mailer: Pick<Mailer, 'isConfigured' | 'send'>;
  sealer: Pick<Sealer, 'seal' | 'open'>;
  /** The provider of sign-ins. Absent: there is none. */
  oidc?: OidcOptions;
  publicUrl: string;
  log: Pick<Log, 'warn'>;
}
