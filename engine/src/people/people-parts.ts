import type { KeyCache } from '../accounts/key-cache.ts';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { Principal } from '../contract/base.ts';
import type { Sql } from '../db/database.ts';
import type { Mailer } from '../outbox/transports/email/mailer.ts';
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
  publicUrl: string;
}
