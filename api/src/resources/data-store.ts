import { z } from '@hono/zod-openapi';
import type { DataStoreRecord, StoredRecord } from '@headwater/engine';
import { RawJson } from '../raw-json.ts';
import { epochSeconds, secondsField } from './time.ts';

export const dataStoreSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the data store.', example: 'ds_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
    record_count: z.int().openapi({ description: 'May count records for a while that have expired.' }),
    bytes: z.int().openapi({ description: 'Of keys and values, and 64 for each record.' }),
    created_at: secondsField('When the store was made.'),
    updated_at: secondsField('When it or a record last changed.'),
  })
  .openapi('DataStore');

export function presentDataStore(store: DataStoreRecord): z.output<typeof dataStoreSchema> {
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

export const recordSchema = z
  .object({
    key: z.string().describe('The key of the record.'),
    value: z.unknown().describe('Its value, any JSON.'),
    expires_at: z.int().nullable().openapi({ description: 'Epoch seconds; null: it stays.' }),
    updated_at: secondsField('When it was last set.'),
  })
  .openapi('DataStoreRecord');

export function presentRecord({ key, valueJson, expiresAt, updatedAt }: StoredRecord): z.output<typeof recordSchema> {
  return {
    key,
    // As it is: a value of a megabyte of `[],` takes some tenths of a second to be parsed and
    // written again.
    value: new RawJson(valueJson),
    expires_at: expiresAt === undefined ? null : epochSeconds(expiresAt),
    updated_at: epochSeconds(updatedAt),
  };
}
