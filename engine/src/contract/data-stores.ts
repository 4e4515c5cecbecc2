import type { Condition, Page, PageRequest, Principal } from './base.ts';

export interface DataStoreRecord {
  id: string;
  name: string;
  description?: string;
  /** With those that have expired and are not deleted yet. */
  recordCount: number;
  /** Bytes of all keys and values, plus 64 for each record. */
  bytes: number;
  createdAt: Date;
  updatedAt: Date;
}

interface DataStoreCreate {
  name: string;
  description?: string;
}

export type DataStoreUpdate = Partial<DataStoreCreate>;

/** One record of a data store. */
export interface StoredRecord {
  key: string;
  /** JSON text. */
  valueJson: string;
  expiresAt?: Date;
  updatedAt: Date;
}

/** `tag`: the same for the same value and end. */
export type TaggedRecord = StoredRecord & { tag: string };

interface RecordInput {
  key: string;
  value: unknown;
  /** Without it the record stays. */
  ttlSeconds?: number;
}

interface RecordPageRequest {
  limit: number;
  /** A cursor. */
  after?: string;
  /** Only keys that begin with it. */
  prefix?: string;
}

/**
 * Stores that components of an account share, by their props of type `data_store`. Every method
 * answers NOT_FOUND for a store of another account. Keys have 1 to LIMITS.maxDataStoreKeyBytes
 * bytes.
 */
export interface DataStores {
  /** Throws CONFLICT with the limit `maxDataStores`. */
  create(who: Principal, input: DataStoreCreate): Promise<DataStoreRecord>;
  get(who: Principal, id: string): Promise<DataStoreRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<DataStoreRecord>>;
  /** An empty description is removed. */
  update(who: Principal, id: string, change: DataStoreUpdate): Promise<DataStoreRecord>;
  /** With its records. Sources that use it are told when they ask it for something. */
  delete(who: Principal, id: string): Promise<void>;
  /** In the order of the keys' bytes; goes on after a cursor, never back. */
  records(who: Principal, id: string, page: RecordPageRequest): Promise<Page<StoredRecord>>;
  /** Throws NOT_FOUND if it does not exist. */
  getRecord(who: Principal, id: string, key: string): Promise<TaggedRecord>;
  /**
   * Replaces what was there, with its end. Throws INVALID_REQUEST, PAYLOAD_TOO_LARGE with the limit
   * `maxDataStoreValueBytes`, CONFLICT with `maxDataStoreRecords` or `maxDataStoreBytes`. Writers
   * of a store follow each other: between the check of a condition and the write there is none.
   */
  putRecord(who: Principal, id: string, record: RecordInput, condition?: Condition): Promise<TaggedRecord>;
  /** NOT_FOUND where there was none. */
  deleteRecord(who: Principal, id: string, key: string, condition?: Condition): Promise<void>;
  /**
   * Deletes all records, those of a large store by and by. Throws RATE_LIMITED with the limit
   * `maxDeletionsPerTenant`, as `delete` does.
   */
  clear(who: Principal, id: string): Promise<void>;
}
