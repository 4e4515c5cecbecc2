import { z } from '@hono/zod-openapi';
import type { AccountLimitsRecord } from '@headwater/engine';
import { ACCOUNT_LIMITS } from '@headwater/shared';

const entries = Object.entries(ACCOUNT_LIMITS);

const allLimits = z.object(
  Object.fromEntries(
    entries.map(([name, { unit, of }]) => [name, z.int().openapi({ description: `A limit on ${of} (${unit}).` })]),
  ),
);
const someLimits = z.object(Object.fromEntries(entries.map(([name]) => [name, z.int().optional()])));

export const accountLimitsSchema = z
  .object({
    account_id: z.string().openapi({ example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    limits: allLimits.openapi({ description: 'What holds.' }),
    defaults: allLimits.openapi({ description: 'What holds where nothing is set for the account.' }),
    set: someLimits.openapi({ description: 'What the operator has set for this account.' }),
  })
  .openapi('AccountLimits');

export function presentAccountLimits(record: AccountLimitsRecord): z.output<typeof accountLimitsSchema> {
  return { account_id: record.accountId, limits: record.limits, defaults: record.defaults, set: record.set };
}
