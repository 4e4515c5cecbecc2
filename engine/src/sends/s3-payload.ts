import { LIMITS } from '@headwater/shared';
import { readObject, type Read } from './read-payload.ts';

export interface S3Target {
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Printable, and no backslash: names that every server and tool takes as they are. */
const PREFIX = /^[^\p{C}\\]*$/u;

/** Where a payload of `$.send.s3` goes. */
export function readS3Target(json: string): Read<S3Target> {
  const read = readObject(json);
  if (!read.ok) return read;
  const { bucket, prefix = '' } = read.value;
  if (typeof bucket !== 'string' || !BUCKET.test(bucket) || bucket.includes('..')) {
    return { ok: false, message: 'bucket must be the name of a bucket: 3 to 63 of a-z, 0-9, "." and "-"' };
  }
  if (typeof prefix !== 'string' || prefix.length > LIMITS.maxS3PrefixChars || !PREFIX.test(prefix)) {
    return { ok: false, message: `prefix must be a string of at most ${LIMITS.maxS3PrefixChars} printable characters` };
  }
  const trimmed = prefix.replace(/^\/+|\/+$/g, '');
  if (trimmed.split('/').some((part) => part === '.' || part === '..')) {
    return { ok: false, message: 'prefix must not hold "." or ".." as a part' };
  }
  return { ok: true, value: { bucket, prefix: trimmed } };
}

/** The line that a payload of `$.send.s3` becomes: its `payload` as JSON. */
export function s3LineOf(json: string): string {
  const read = readObject(json);
  return JSON.stringify((read.ok ? read.value['payload'] : undefined) ?? null);
}

/** `PREFIX/YYYY/MM/DD/HH/YYYY-MM-DD-HH-MM-SS-ID.gz`, in UTC. */
export function objectKeyOf(prefix: string, id: string, nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().slice(0, 19).split('T');
  const folder = `${date.replaceAll('-', '/')}/${time.slice(0, 2)}`;
  const name = `${date}-${time.replaceAll(':', '-')}-${id}.gz`;
  return [...(prefix === '' ? [] : [prefix]), folder, name].join('/');
}
