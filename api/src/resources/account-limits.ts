import { z } from '@hono/zod-openapi';
import type { AccountLimitsRecord } from '@headwater/engine';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import { epochSeconds, secondsField } from './time.ts';

const entries = Object.entries(ACCOUNT_LIMITS);

const allLimits = z.object(
  Object.fromEntries(
    entries.map(([name, { unit, why }]) => [name, z.int().openapi({ description: `A limit on ${why} (${unit}).` })]),
  ),
);
const someLimits = z.object(
  Object.fromEntries(
    entries.map(([name]) => [name, z.int().optional().describe('Set for this account. Absent: the default holds.')]),
  ),
);

const historySchema = z
  .object({
    bytes: z.int().openapi({ description: 'What `maxHistoryBytes` counts, as of some seconds ago.' }),
    kept_from: secondsField(
      'What is older was deleted because there was more than `maxHistoryBytes`; null where nothing had to be.',
    ).nullable(),
  })
  .openapi({ description: 'Events, records of runs and executions, sends and deliveries that the account has.' });

export const accountLimitsSchema = z
  .object({
    account_id: z
      .string()
      .openapi({ description: 'The account whose limits these are.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    limits: allLimits.openapi({ description: 'What holds.' }),
    defaults: allLimits.openapi({ description: 'What holds where nothing is set for the account.' }),
    set: someLimits.openapi({ description: 'What the operator has set for this account.' }),
    history: historySchema,
  })
  .openapi('AccountLimits');

export function presentAccountLimits(record: AccountLimitsRecord): z.output<typeof accountLimitsSchema> {
  const { accountId, limits, defaults, set, history } = record;
  const { bytes, keptFrom } = history;
  const keptFromSeconds = keptFrom === undefined ? null : epochSeconds(keptFrom);
  return { account_id: accountId, limits, defaults, set, history: { bytes, kept_from: keptFromSeconds } };
}
