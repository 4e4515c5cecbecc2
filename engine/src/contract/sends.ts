import type { AttemptRecord, Page, PageRequest, Principal } from './base.ts';

/** A message that a step sent with `$.send.http`, `.email` or `.s3`. */
export interface SendRecord {
  id: string;
  kind: 'http' | 'email' | 's3';
  workflowId: string;
  executionId: string;
  traceId: string;
  status: 'pending' | 'delivered' | 'failed';
  /** JSON text of the argument of `$.send`, without secrets. */
  payload: string;
  /** S3 only: the object that holds the send's line, once it was combined with others. */
  objectKey?: string;
  attempts: AttemptRecord[];
  nextAttemptAt?: Date;
  createdAt: Date;
}

export interface S3SettingsInput {
  /** `https://minio.example.com`; absent: Amazon's of the region. */
  endpoint?: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The secret is never shown again. */
export type S3SettingsRecord = Omit<S3SettingsInput, 'secretAccessKey'> & { updatedAt: Date };

export interface Sends {
  /** Sends of one execution, newest first. */
  list(who: Principal, executionId: string, page: PageRequest): Promise<Page<SendRecord>>;
  /**
   * Attempts one that has failed anew, from the beginning of the schedule. Throws CONFLICT for one
   * that has not failed.
   */
  retry(who: Principal, id: string): Promise<SendRecord>;
  s3Settings(who: Principal): Promise<S3SettingsRecord>;
  setS3(who: Principal, input: S3SettingsInput): Promise<S3SettingsRecord>;
  deleteS3(who: Principal): Promise<void>;
}
