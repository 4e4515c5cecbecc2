import { type AccountLimits, type Fault, LIMITS, platformLimit } from '@headwater/shared';

export type RecordProblem = Fault & { field: 'key' | 'value' | 'ttl' };

export function findKeyProblem(key: unknown): RecordProblem | undefined {
  if (typeof key !== 'string' || key === '') return { field: 'key', message: 'must be a non-empty string' };
  if (key.includes('\0') || !key.isWellFormed())
    return { field: 'key', message: 'contains a NUL character or half of a surrogate pair, which cannot be stored' };
  const limit = platformLimit('maxDataStoreKeyBytes', Buffer.byteLength(key));
  const { value, used } = limit;
  return used <= value
    ? undefined
    : { field: 'key', message: `has ${used} bytes; at most ${value} are allowed`, limit };
}

export function findValueProblem(
  valueJson: string,
  { maxDataStoreValueBytes: value }: Pick<AccountLimits, 'maxDataStoreValueBytes'>,
): RecordProblem | undefined {
  const used = Buffer.byteLength(valueJson);
  if (used <= value) return undefined;
  const message = `has ${used} bytes as JSON; the limit maxDataStoreValueBytes is ${value} bytes`;
  return { field: 'value', message, limit: { name: 'maxDataStoreValueBytes', value, used } };
}

export function findTtlProblem(ttlSeconds: number | undefined): RecordProblem | undefined {
  if (ttlSeconds === undefined || (ttlSeconds > 0 && ttlSeconds <= LIMITS.maxDataStoreTtlSeconds)) return undefined;
  const limit = platformLimit('maxDataStoreTtlSeconds', ttlSeconds);
  const message = `must be more than 0 and at most ${limit.value} seconds`;
  return { field: 'ttl', message, ...(ttlSeconds > limit.value ? { limit } : {}) };
}
