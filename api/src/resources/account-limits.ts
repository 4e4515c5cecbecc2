import type { AccountLimitsRecord } from '@headwater/engine';
import type { accountLimitsSchema, Shown } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentAccountLimits(record: AccountLimitsRecord): Shown<typeof accountLimitsSchema> {
  const { accountId, limits, defaults, set, history } = record;
  const { bytes, keptFrom } = history;
  const keptFromSeconds = keptFrom === undefined ? null : epochSeconds(keptFrom);
  return { account_id: accountId, limits, defaults, set, history: { bytes, kept_from: keptFromSeconds } };
}
