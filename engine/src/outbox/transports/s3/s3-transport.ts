import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createGiveWay, LIMITS } from '@headwater/shared';
import { readS3Settings } from './s3-settings.sql.ts';
import { putObject, type S3Access } from './put-object.ts';
import { s3LineOf } from './s3-payload.ts';
import { classOfStatus } from '../../error-class.ts';
import type { DueUpload } from '../../sends/due-send.ts';
import type { SendContent } from '../../sends/new-send.ts';
import { openContent } from '../../sends/open-content.ts';
import { type AttemptOutcome, CUT_OFF, final, type Transport } from '../../transport.ts';
import { limitField, plainOf, withoutSecretsOfSend } from '../plain-errors.ts';
import type { SendTransportParts } from '../send-transport-parts.ts';

type S3Parts = Pick<SendTransportParts, 'sql' | 'sealer' | 'fetch' | 'limits'>;

const compress = promisify(gzip);

const NO_SETTINGS = 'The account has no S3 server: set one with PUT /v1/sends/s3';

/**
 * `$.send.s3`: puts the lines of one object. Retries after any answer: the owner can fix the bucket
 * or the credentials, and the lines wait for that.
 */
export function createS3Transport(parts: S3Parts): Transport<DueUpload> {
  return {
    attempt: async (upload, signal) => withoutSecretsOfSend(upload.contents, await put(parts, upload, signal)),
  };
}

async function put(
  { sql, sealer, fetch, limits }: S3Parts,
  { accountId, bucket, objectKey, contents }: DueUpload,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const ofAccount = await limits.get(accountId);
  const payloads = await openInTurns(sealer, accountId, contents);
  const row = await readS3Settings(sql, accountId);
  if (row === undefined) return final(NO_SETTINGS, { plain: NO_SETTINGS, errorClass: 'internal' });
  const { endpoint, region, accessKeyId, secretAccessKey } = row;
  const access: S3Access = {
    region,
    accessKeyId,
    secretAccessKey: sealer.open(accountId, secretAccessKey),
    ...(endpoint === null ? {} : { endpoint }),
  };
  const lines: string[] = [];
  for (const payload of payloads) lines.push(`${await s3LineOf(payload)}\n`);
  const object = { bucket, key: objectKey, body: await compress(lines.join('')) };
  const uploadLimits = {
    ...ofAccount,
    fetchTimeoutMs: LIMITS.uploadTimeoutMs,
    maxFetchRequestBytes: 2 * LIMITS.maxS3ObjectBytes,
    maxFetchResponseBytes: LIMITS.maxUploadAnswerBytes,
  };
  const tenant = { id: accountId, limits: uploadLimits };
  const outcome = await putObject(access, object, (request) => fetch(tenant, request, signal));
  if (signal.aborted) return CUT_OFF;
  if (outcome.ok) return { kind: 'delivered', statusCode: outcome.statusCode };
  const { message: error, statusCode, limit } = outcome;
  const given = statusCode === undefined ? {} : { statusCode };
  const errorClass = statusCode === undefined ? 'connection' : classOfStatus(statusCode);
  return { kind: 'again', error, errorClass, ...plainOf(outcome), ...given, ...limitField(ofAccount, limit) };
}

/**
 * Thousands of lines, megabytes together: to open them takes the node's thread tens of
 * milliseconds.
 */
async function openInTurns(
  sealer: S3Parts['sealer'],
  accountId: string,
  contents: readonly SendContent[],
): Promise<string[]> {
  const giveWay = createGiveWay();
  const payloads: string[] = [];
  for (const content of contents) {
    payloads.push(openContent(sealer, accountId, content));
    await giveWay();
  }
  return payloads;
}
