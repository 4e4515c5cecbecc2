import type { S3SettingsRecord, SendRecord } from '@headwater/engine';
import type { s3SettingsSchema, sendSchema, Shown } from '@headwater/shared/contract';
import { RawJson } from '../raw-json.ts';
import { epochSeconds } from './time.ts';
import { presentAttempts } from './webhook.ts';

export function presentSend(send: SendRecord): Shown<typeof sendSchema> {
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

export function presentS3Settings(settings: S3SettingsRecord): Shown<typeof s3SettingsSchema> {
  const { endpoint, region, accessKeyId, updatedAt } = settings;
  return { endpoint: endpoint ?? null, region, access_key_id: accessKeyId, updated_at: epochSeconds(updatedAt) };
}
