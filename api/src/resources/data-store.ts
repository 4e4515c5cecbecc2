import type { DataStoreRecord, StoredRecord } from '@headwater/engine';
import type { dataStoreSchema, recordSchema, Shown } from '@headwater/shared/contract';
import { RawJson } from '../raw-json.ts';
import { epochSeconds } from './time.ts';

export function presentDataStore(store: DataStoreRecord): Shown<typeof dataStoreSchema> {
  return {
    id: store.id,
    name: store.name,
    description: store.description ?? null,
    record_count: store.recordCount,
    bytes: store.bytes,
    created_at: epochSeconds(store.createdAt),
    updated_at: epochSeconds(store.updatedAt),
  };
}

export function presentRecord({ key, valueJson, expiresAt, updatedAt }: StoredRecord): Shown<typeof recordSchema> {
  return {
    key,
    // As it is: a value of a megabyte of `[],` takes some tenths of a second to be parsed and
    // written again.
    value: new RawJson(valueJson),
    expires_at: expiresAt === undefined ? null : epochSeconds(expiresAt),
    updated_at: epochSeconds(updatedAt),
  };
}
