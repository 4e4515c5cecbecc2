import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../limits/account-limits.ts';
import { secondsField } from './fields.ts';

const entries = Object.entries(ACCOUNT_LIMITS);

const allLimits = z.object(
  Object.fromEntries(
    entries.map(([name, { unit, why }]) => [name, z.int().meta({ description: `A limit on ${why} (${unit}).` })]),
  ),
);
const someLimits = z.object(
  Object.fromEntries(
    entries.map(([name]) => [name, z.int().optional().describe('Set for this account. Absent: the default holds.')]),
  ),
);

const historySchema = z
  .object({
    bytes: z.int().meta({ description: 'What `maxHistoryBytes` counts, as of some seconds ago.' }),
    kept_from: secondsField(
      'What is older was deleted because there was more than `maxHistoryBytes`; null where nothing had to be.',
    ).nullable(),
  })
  .meta({ description: 'Events, records of runs and executions, sends and deliveries that the account has.' });

export const accountLimitsSchema = z
  .object({
    account_id: z
      .string()
      .meta({ description: 'The account whose limits these are.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    limits: allLimits.meta({ description: 'What holds.' }),
    defaults: allLimits.meta({ description: 'What holds where nothing is set for the account.' }),
    set: someLimits.meta({ description: 'What the operator has set for this account.' }),
    history: historySchema,
  })
  .meta({ id: 'AccountLimits' });
