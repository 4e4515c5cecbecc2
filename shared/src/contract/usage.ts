import { z } from 'zod';

const count = (description: string, example: number) => z.int().meta({ description, example });

export const usedFields = {
  requests: count('Requests that were let in at its endpoints, and at this API with its keys.', 1200),
  runs: count('Runs of sources and executions of workflows that ended.', 1180),
  run_ms: count('How long its code ran, in milliseconds: runs, steps, hooks, transforms, each try of them.', 35_400),
  cpu_ms: count('The processor time that this took, in milliseconds.', 4720),
  events: count('Events that were emitted and stored, those of `$errors` and `$logs` left out.', 1150),
  deliveries: count('Deliveries that a webhook has accepted.', 2290),
  attempts: count('Attempts of deliveries and of what `$.send` sends, failed ones too.', 2310),
  bytes_in: count(
    'Bodies of requests to its endpoints and to this API, of answers to what its code fetched, and of answers of webhooks.',
    480_000,
  ),
  bytes_out: count(
    'Bodies of answers of its endpoints and of this API, of what its code fetched with, and of deliveries and sends.',
    1_900_000,
  ),
  storage_bytes: count(
    'The most that was found stored, of looks about once an hour: history, code, configuration, `$.service.db`, data stores, and executions that wait.',
    52_000_000,
  ),
};

export const usageSchema = z
  .object({
    account_id: z.string().meta({ description: 'The account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    since: z.int().meta({ description: 'Where the first day begins. Epoch milliseconds.', example: 1_763_596_800_000 }),
    until: z.int().meta({ description: 'Where the last day ends. Epoch milliseconds.', example: 1_763_683_200_000 }),
    totals: z
      .object(usedFields)
      .meta({ description: 'The sums of the days; `storage_bytes` is the most of any of them.' }),
    days: z
      .array(
        z.object({
          day: z.string().meta({ description: 'The day, in UTC.', example: '2025-11-20' }),
          ...usedFields,
        }),
      )
      .meta({ description: 'Every day of the range, the oldest first, also those on which nothing happened.' }),
  })
  .meta({ id: 'Usage' });
