import { z } from 'zod';

const count = (description: string, example: number) => z.int().meta({ description, example });

const counts = {
  received: count(
    'Events that a source or workflow was given to run: requests, ticks, runs by hand, events heard.',
    42,
  ),
  emitted: count('Events that were emitted and stored, those of `$errors` and `$logs` left out.', 40),
  runs_ok: count('Runs and executions that ended well.', 41),
  runs_failed: count('Runs and executions that failed.', 1),
  delivered: count('Deliveries that a webhook has accepted.', 78),
  failed_attempts: count('Attempts of deliveries that failed.', 3),
  exhausted: count(
    'Deliveries that failed with no attempt left; the last attempt is one of `failed_attempts` as well.',
    1,
  ),
};

const span = {
  since: z
    .int()
    .meta({ description: 'Where the first bucket begins. Epoch milliseconds.', example: 1_763_640_000_000 }),
  until: z.int().meta({ description: 'Where the last bucket ends. Epoch milliseconds.', example: 1_763_643_600_000 }),
  step: z.int().meta({ description: 'Seconds of a bucket.', example: 60 }),
};

const totals = z.object(counts).meta({ description: 'The sums of the range.' });

export const statSeriesSchema = z
  .object({
    ...span,
    totals,
    buckets: z
      .array(z.object({ at: z.int().meta({ description: 'Where it begins. Epoch milliseconds.' }), ...counts }))
      .meta({ description: 'Every bucket of the range, in order, also those in which nothing happened.' }),
  })
  .meta({ id: 'StatSeries' });

const subjectSchema = z.object({
  id: z
    .string()
    .meta({ description: 'The id of the source, workflow or webhook.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
  type: z.enum(['source', 'workflow', 'webhook']).describe('The kind of resource.'),
  name: z.string().describe('Its name.'),
  totals,
  activity: z.array(z.int()).meta({
    description: 'A number for each bucket: what was received, or what was delivered to a webhook.',
  }),
  failures: z
    .array(z.int())
    .meta({ description: 'A number for each bucket: runs that failed, or attempts of a webhook.' }),
});

export const subjectStatsSchema = z
  .object({ ...span, subjects: z.array(subjectSchema).describe('Each source, workflow and webhook.') })
  .meta({ id: 'SubjectStats' });

const waitingFields = {
  name: z.string().describe('The name of what waits.'),
  since: z.int().meta({ description: 'Epoch milliseconds.', example: 1_763_640_000_123 }),
};

export const waitingStatsSchema = z
  .object({
    run: z
      .object({
        emitter_id: z
          .string()
          .meta({ description: 'The source or workflow that is to run.', example: 'dc_1vZ8kQ0aB3xYpL9mWc2T' }),
        ...waitingFields,
      })
      .nullable()
      .meta({
        description: 'The source or workflow of the oldest run, and when that was accepted. null: none waits.',
      }),
    delivery: z
      .object({
        webhook_id: z.string().meta({ description: 'The webhook that it is for.', example: 'wh_1vZ8kQ0aB3xYpL9mWc2T' }),
        ...waitingFields,
      })
      .nullable()
      .meta({ description: 'The webhook of the oldest delivery, and since when that is due. null: none is due.' }),
  })
  .meta({ id: 'WaitingStats' });

export const accountStatsSchema = z
  .object({
    ...span,
    accounts: z
      .array(
        z.object({
          id: z.string().meta({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
          name: z.string().describe('Its name.'),
          totals,
          waiting_runs: z.int().meta({ description: 'Runs that wait now for any node.', example: 0 }),
          waiting_deliveries: z.int().meta({ description: 'The same of deliveries, retries included.', example: 3 }),
        }),
      )
      .describe('Each account.'),
  })
  .meta({ id: 'AccountStats' });

export const nodeSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the node.', example: 'node_1vZ8kQ0aB3xYpL9mWc2T' }),
    role: z.string().meta({ description: 'The work that it does: `all`, `api` or `engine`.', example: 'all' }),
    started_at: z.int().meta({ description: 'Epoch milliseconds.', example: 1_763_640_000_000 }),
    seen_at: z.int().meta({ description: 'Its last heartbeat, epoch milliseconds.', example: 1_763_640_002_000 }),
  })
  .meta({ id: 'Node' });
