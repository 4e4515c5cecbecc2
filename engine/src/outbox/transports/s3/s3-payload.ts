import { LIMITS, platformLimit, readMembers } from '@headwater/shared';
import type { Read } from '../read-payload.ts';

export interface S3Target {
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Printable, and no backslash: names that every server and tool takes as they are. */
const PREFIX = /^[^\p{C}\\]*$/u;

/** Each character of them as an escape. */
const MAX_HEAD_CHARS = 6 * (LIMITS.maxS3PrefixChars + 64) + 64;
/** As the guest writes it. */
const HEAD = /^\{"bucket":("(?:[^"\\]|\\.)*"),"(?:prefix":("(?:[^"\\]|\\.)*"),")?payload":/;

/** A prefix that does not end where the longest would, each character of it an escape. */
const LONG_PREFIX = /^\{"bucket":"[a-z0-9.-]{1,63}","prefix":"(?:[^"\\]|\\.)*\\?$/;

/**
 * Bucket and prefix of a `$.send.s3` payload. Reads only the head, because parsing the rest may
 * take half a second.
 */
export function readS3Target(json: string): Read<S3Target> {
  const head = json.slice(0, MAX_HEAD_CHARS);
  if (head.length === MAX_HEAD_CHARS && LONG_PREFIX.test(head)) return wrongPrefix(LIMITS.maxS3PrefixChars + 1);
  const [, bucketJson, prefixJson = '""'] = HEAD.exec(head) ?? [];
  if (bucketJson === undefined)
    return { ok: false, message: 'bucket must be the name of a bucket, and prefix a string' };
  const [bucket, prefix] = [JSON.parse(bucketJson) as string, JSON.parse(prefixJson) as string];
  if (!BUCKET.test(bucket) || bucket.includes('..')) {
    return { ok: false, message: 'bucket must be the name of a bucket: 3 to 63 of a-z, 0-9, "." and "-"' };
  }
  if (prefix.length > LIMITS.maxS3PrefixChars || !PREFIX.test(prefix)) return wrongPrefix(prefix.length);
  const trimmed = prefix.replace(/^\/+|\/+$/g, '');
  if (trimmed.split('/').some((part) => part === '.' || part === '..')) {
    return { ok: false, message: 'prefix must not hold "." or ".." as a part' };
  }
  return { ok: true, value: { bucket, prefix: trimmed } };
}

/** `chars`: of the prefix, at least. */
function wrongPrefix(chars: number): Read<S3Target> {
  const limit = platformLimit('maxS3PrefixChars', chars);
  const message = `prefix must be a string of at most ${limit.value} printable characters`;
  return { ok: false, message, ...(limit.used > limit.value ? { limit } : {}) };
}

/** The line that a payload of `$.send.s3` becomes: its `payload` as JSON. */
export async function s3LineOf(json: string): Promise<string> {
  return (await readMembers(json, ['payload']))?.payload ?? 'null';
}

/** `PREFIX/YYYY/MM/DD/HH/YYYY-MM-DD-HH-MM-SS-ID.gz`, in UTC. */
export function objectKeyOf(prefix: string, id: string, nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().slice(0, 19).split('T');
  const folder = `${date.replaceAll('-', '/')}/${time.slice(0, 2)}`;
  const name = `${date}-${time.replaceAll(':', '-')}-${id}.gz`;
  return [...(prefix === '' ? [] : [prefix]), folder, name].join('/');
}
