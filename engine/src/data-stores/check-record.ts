import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';

export type RecordProblem = { field: 'key' | 'value' | 'ttl'; message: string; limit?: ExceededLimit };

/** What is wrong with a key, or undefined. */
export function findKeyProblem(key: unknown): RecordProblem | undefined {
  if (typeof key !== 'string' || key === '') return { field: 'key', message: 'must be a string that is not empty' };
  if (key.includes('\0') || !key.isWellFormed())
    return { field: 'key', message: 'contains a NUL character or half of a surrogate pair, which cannot be stored' };
  const bytes = Buffer.byteLength(key);
  if (bytes <= LIMITS.maxDataStoreKeyBytes) return undefined;
  return { field: 'key', message: `has ${bytes} bytes; at most ${LIMITS.maxDataStoreKeyBytes} are allowed` };
}

/** What is wrong with the JSON text of a value, or undefined. */
export function findValueProblem(
  valueJson: string,
  { maxDataStoreValueBytes: value }: Pick<AccountLimits, 'maxDataStoreValueBytes'>,
): RecordProblem | undefined {
  const used = Buffer.byteLength(valueJson);
  if (used <= value) return undefined;
  const message = `has ${used} bytes as JSON; the limit maxDataStoreValueBytes is ${value} bytes`;
  return { field: 'value', message, limit: { name: 'maxDataStoreValueBytes', value, used } };
}

/** What is wrong with the seconds for which a record is to stay, or undefined. */
export function findTtlProblem(ttlSeconds: number | undefined): RecordProblem | undefined {
  if (ttlSeconds === undefined || (ttlSeconds > 0 && ttlSeconds <= LIMITS.maxDataStoreTtlSeconds)) return undefined;
  return { field: 'ttl', message: `must be more than 0 and at most ${LIMITS.maxDataStoreTtlSeconds} seconds` };
}
