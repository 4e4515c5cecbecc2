import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type AccountLimits, LIMITS } from '@headwater/shared';
import type { GuestFetch } from '../../../egress/guest-fetch.ts';
import type { Sealer } from '../../../secrets/seal.ts';
import type { Sql } from '../../../db/database.ts';
import { readS3Settings } from './s3-settings.sql.ts';
import { putObject, type S3Access } from './put-object.ts';
import { s3LineOf } from './s3-payload.ts';
import { final, limitOf, plainOf, type SendOutcome } from '../../sends/send-outcome.ts';

export interface UploadParts {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
  fetch: GuestFetch['fetch'];
}

export interface Upload {
  bucket: string;
  objectKey: string;
  /** JSON texts of what was given to `$.send.s3`. */
  payloads: readonly string[];
}

const compress = promisify(gzip);

const NO_SETTINGS = 'The account has no S3 server: set one with PUT /v1/sends/s3';

/**
 * Puts the lines of one object. Whatever the server says, the same is tried again: what is wrong
 * with a bucket or with credentials is mended by their owner, and the lines are waiting for that.
 */
export async function sendUpload(
  { sql, sealer, fetch }: UploadParts,
  account: { id: string; limits: AccountLimits },
  upload: Upload,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const row = await readS3Settings(sql, account.id);
  if (row === undefined) return final(NO_SETTINGS, { plain: NO_SETTINGS });
  const { endpoint, region, accessKeyId, secretAccessKey } = row;
  const access: S3Access = {
    region,
    accessKeyId,
    secretAccessKey: sealer.open(account.id, secretAccessKey),
    ...(endpoint === null ? {} : { endpoint }),
  };
  const lines: string[] = [];
  for (const payload of upload.payloads) lines.push(`${await s3LineOf(payload)}\n`);
  const object = { bucket: upload.bucket, key: upload.objectKey, body: await compress(lines.join('')) };
  const limits = {
    ...account.limits,
    fetchTimeoutMs: LIMITS.uploadTimeoutMs,
    maxFetchRequestBytes: 2 * LIMITS.maxS3ObjectBytes,
    maxFetchResponseBytes: LIMITS.maxUploadAnswerBytes,
  };
  const outcome = await putObject(access, object, (request) => fetch({ id: account.id, limits }, request, signal));
  if (signal.aborted) return { kind: 'cut-off' };
  if (outcome.ok) return { kind: 'delivered', statusCode: outcome.statusCode };
  const { message: error, statusCode, limit } = outcome;
  const given = statusCode === undefined ? {} : { statusCode };
  return { kind: 'again', error, ...plainOf(outcome), ...given, ...limitOf(account.limits, limit) };
}
