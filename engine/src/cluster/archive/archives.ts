import type { AccountLimits } from '@headwater/shared';
import type { Archives } from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import { archiveAccount } from './archive-account.sql.ts';
import { importAccount } from './import-account.sql.ts';

/** Accounts as archives; see Archives. */
export function createArchives(parts: {
  databaseUrl: () => string;
  sealer: Sealer;
  defaults: AccountLimits;
}): Archives {
  const { databaseUrl, sealer, defaults } = parts;
  return {
    export: (accountId, passphrase, options) =>
      archiveAccount({ databaseUrl: databaseUrl(), sealer, accountId, passphrase, ...options }),
    import: (file, passphrase) => importAccount({ databaseUrl: databaseUrl(), sealer, file, passphrase, defaults }),
  };
}
