import { defineLimits } from './define-limits.ts';

/** Limits of stored data: `$.service.db` and data stores. */
// biome-ignore format: one limit a line
export const STORE_LIMITS = defineLimits({
  dbEntryOverheadBytes: { default: 64, unit: 'bytes', scope: 'account', why: 'what a value of `$.service.db` counts for `maxDbBytes` and `maxRunOutputBytes` beside its key and bytes' },
  maxDbKeyBytes: { default: 1024, unit: 'bytes', scope: 'source', why: 'a key of `$.service.db`' },
  maxDbReadsPerTenant: { default: 4, unit: 'count', scope: 'account', why: 'reads of `$.service.db` under way on one node; more wait' },
  maxDbReads: { default: 6, unit: 'count', scope: 'node', why: 'reads of `$.service.db` under way, of all accounts' },
  smallValueChars: { default: 16 * 1024, unit: 'characters', scope: 'account', why: 'characters of a value of `$.service.db` or a data store, and of an answer of `options` or `additionalProps`, that cost its turn no time' },
  dbReadCharsPerSecond: { default: 2 * 1024 * 1024, unit: 'characters per second', scope: 'account', why: 'pace at which the rest of a larger value uses up its turn, while others are here' },
  maxDataStoreKeyBytes: { default: 1024, unit: 'bytes', scope: 'data store', why: 'a key' },
  dataStorePageRecords: { default: 1_000, unit: 'count', scope: 'run', why: 'records that it is given at once of a list of keys or entries' },
  dataStorePageBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'run', why: 'keys and values of those, unless one record has more' },
  maxDataStoreTtlSeconds: { default: 10 * 366 * 24 * 3600, unit: 'seconds', scope: 'data store', why: 'the longest life that a record can be given' },
  maxDataStoreCallsPerTenant: { default: 2, unit: 'count', scope: 'account', why: 'operations on data stores of its runs under way on one node; more wait' },
  dataStoreCharsPerSecond: { default: 4 * 1024 * 1024, unit: 'characters per second', scope: 'account', why: 'pace at which the rest of a larger value uses up its turn; of what is read, while others are here' },
  maxDataStoreBytesPerTenant: { default: 96 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'values that wait with those operations' },
});
