import { z } from '@hono/zod-openapi';
import type { S3SettingsRecord, SendRecord } from '@headwater/engine';
import { RawJson } from '../raw-json.ts';
import { epochSeconds, secondsField } from './time.ts';
import { attemptsSchema, presentAttempts } from './webhook.ts';

export const sendSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the send.', example: 'snd_1vZ8kQ0aB3xYpL9mWc2T' }),
    kind: z.enum(['http', 'email', 's3']).describe('What it was sent with: `$.send.http`, `.email` or `.s3`.'),
    workflow_id: z.string().describe('The workflow that sent it.'),
    execution_id: z.string().describe('The execution that sent it.'),
    trace_id: z.string().describe('The trace of the execution.'),
    status: z
      .enum(['pending', 'delivered', 'failed'])
      .describe('`pending`: it is tried, or waits to be. `failed`: no attempt is left.'),
    payload: z.unknown().openapi({ description: 'What was given to `$.send`, secrets taken out.' }),
    object_key: z.string().nullable().openapi({ description: 'Of S3: the object that holds its line.' }),
    attempts: attemptsSchema,
    next_attempt_at: secondsField('When it is tried next; null when it is done.').nullable(),
    created_at: secondsField('When its execution ended.'),
  })
  .openapi('Send');

export function presentSend(send: SendRecord): z.output<typeof sendSchema> {
  return {
    id: send.id,
    kind: send.kind,
    workflow_id: send.workflowId,
    execution_id: send.executionId,
    trace_id: send.traceId,
    status: send.status,
    payload: new RawJson(send.payload),
    object_key: send.objectKey ?? null,
    attempts: presentAttempts(send.attempts),
    next_attempt_at: send.nextAttemptAt === undefined ? null : epochSeconds(send.nextAttemptAt),
    created_at: epochSeconds(send.createdAt),
  };
}

export const s3SettingsSchema = z
  .object({
    endpoint: z.string().nullable().openapi({ description: "null: Amazon's of the region." }),
    region: z.string().describe('The region of the bucket.'),
    access_key_id: z.string().describe('The id of the access key.'),
    updated_at: secondsField('When it was set.'),
  })
  .openapi('S3Settings');

export function presentS3Settings(settings: S3SettingsRecord): z.output<typeof s3SettingsSchema> {
  const { endpoint, region, accessKeyId, updatedAt } = settings;
  return { endpoint: endpoint ?? null, region, access_key_id: accessKeyId, updated_at: epochSeconds(updatedAt) };
}
