import { z } from 'zod';
import { seconds, secondsField } from './fields.ts';

export const dataStoreSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the data store.', example: 'ds_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
    record_count: z.int().meta({ description: 'May count records for a while that have expired.' }),
    bytes: z.int().meta({ description: 'Of keys and values, and 64 for each record.' }),
    created_at: secondsField('When the store was made.'),
    updated_at: secondsField('When it or a record last changed.'),
  })
  .meta({ id: 'DataStore' });

export const recordSchema = z
  .object({
    key: z.string().describe('The key of the record.'),
    value: z.unknown().describe('Its value, any JSON.'),
    expires_at: seconds.meta({ description: 'Epoch seconds; null: it stays.' }).nullable(),
    updated_at: secondsField('When it was last set.'),
  })
  .meta({ id: 'DataStoreRecord' });
