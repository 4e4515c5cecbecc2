import { z } from 'zod';
import { secondsField } from './fields.ts';
import { attemptsSchema } from './delivery.ts';

export const sendSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the send.', example: 'snd_1vZ8kQ0aB3xYpL9mWc2T' }),
    kind: z.enum(['http', 'email', 's3']).describe('What it was sent with: `$.send.http`, `.email` or `.s3`.'),
    workflow_id: z.string().describe('The workflow that sent it.'),
    execution_id: z.string().describe('The execution that sent it.'),
    trace_id: z.string().describe('The trace of the execution.'),
    status: z
      .enum(['pending', 'delivered', 'failed'])
      .describe('`pending`: it is tried, or waits to be. `failed`: no attempt is left.'),
    payload: z.unknown().meta({ description: 'What was given to `$.send`, secrets taken out.' }),
    object_key: z.string().nullable().meta({ description: 'Of S3: the object that holds its line.' }),
    attempts: attemptsSchema,
    next_attempt_at: secondsField('When it is tried next; null when it is done.').nullable(),
    created_at: secondsField('When its execution ended.'),
  })
  .meta({ id: 'Send' });

export const s3SettingsSchema = z
  .object({
    endpoint: z.string().nullable().meta({ description: "null: Amazon's of the region." }),
    region: z.string().describe('The region of the bucket.'),
    access_key_id: z.string().describe('The id of the access key.'),
    updated_at: secondsField('When it was set.'),
  })
  .meta({ id: 'S3Settings' });
