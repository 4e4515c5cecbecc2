import type { TaggedRecord } from '@headwater/engine';
import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { dataStoreSchema, recordSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint, versionedEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { clearableParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentDataStore, presentRecord } from '../resources/data-store.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Data stores';
const pathId = 'The id of the data store (`ds_…`).';
const path = '/v1/data_stores/{id}';

const nameParameter = textParameter('maxNameChars', 1).describe('The name of the data store.');
const descriptionParameter = clearableParameter('maxDescriptionChars').describe('What it is for.');

// A parameter, not a part of the path: a key may be anything, `..` and `a/b` too.
const keyParameter = textParameter('maxDataStoreKeyBytes', 1).openapi({
  description: `Of the record: any text of at most ${LIMITS.maxDataStoreKeyBytes} bytes.`,
});

export function dataStoreEndpoints(): Endpoint[] {
  return [
    createStore,
    listStores,
    getStore,
    updateStore,
    deleteStore,
    listRecords,
    clearRecords,
    getRecord,
    putRecord,
    deleteRecord,
  ];
}

const createStore = itemEndpoint({
  method: 'post',
  path: '/v1/data_stores',
  name: 'createDataStore',
  tag,
  summary: 'Make a data store',
  description: 'Components of the account share it through props of the type `data_store`.',
  parameters: z.object({ name: nameParameter, description: descriptionParameter }),
  schema: dataStoreSchema,
  handle: async ({ engine, who, input: { name, description } }) =>
    presentDataStore(await engine.dataStores.create(who, given({ name, description }))),
});

const listStores = listEndpoint({
  method: 'get',
  path: '/v1/data_stores',
  name: 'listDataStores',
  tag,
  summary: 'The data stores of the account, newest first',
  description: 'With how many records each has, and their bytes.',
  parameters: z.object(pageParameters),
  schema: dataStoreSchema,
  handle: async ({ engine, who, input }) => mapPage(await engine.dataStores.list(who, pageOf(input)), presentDataStore),
});

const getStore = itemEndpoint({
  method: 'get',
  path,
  name: 'getDataStore',
  tag,
  summary: 'A data store',
  description: 'Without its records: `GET /v1/data_stores/{id}/records` has them.',
  pathId,
  parameters: z.object({}),
  schema: dataStoreSchema,
  handle: async ({ engine, who, id }) => presentDataStore(await engine.dataStores.get(who, id)),
});

const updateStore = itemEndpoint({
  method: 'put',
  path,
  name: 'updateDataStore',
  tag,
  summary: 'Change name or description of a data store',
  description: 'What is not given stays. Records are not touched.',
  pathId,
  parameters: z.object({ name: nameParameter.optional(), description: descriptionParameter }),
  schema: dataStoreSchema,
  handle: async ({ engine, who, id, input: { name, description } }) =>
    presentDataStore(await engine.dataStores.update(who, id, given({ name, description }))),
});

const deleteStore = emptyEndpoint({
  method: 'delete',
  path,
  name: 'deleteDataStore',
  // One after the other, for as long as it takes.
  takesTurn: false,
  tag,
  summary: 'Delete a data store with its records',
  description: 'Components that use it fail from then on. There is no way back.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.dataStores.delete(who, id),
});

const listRecords = listEndpoint({
  method: 'get',
  path: `${path}/records`,
  name: 'listDataStoreRecords',
  tag,
  summary: 'Records of a data store, by key',
  description: `\`total_count\` is at most ${LIMITS.maxCountedEvents}; \`record_count\` of the store has them all.`,
  pathId,
  parameters: z.object({
    limit: pageParameters.limit,
    after: pageParameters.after,
    prefix: textParameter('maxDataStoreKeyBytes').optional().openapi({ description: 'Only keys that begin with it.' }),
  }),
  schema: recordSchema,
  handle: async ({ engine, who, id, input: { limit, after, prefix } }) =>
    mapPage(await engine.dataStores.records(who, id, given({ limit, after, prefix })), presentRecord),
});

const clearRecords = emptyEndpoint({
  method: 'delete',
  path: `${path}/records`,
  name: 'clearDataStore',
  takesTurn: false,
  tag,
  summary: 'Delete all records of a data store',
  description: 'Of a large store by and by: what is set meanwhile stays or goes.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.dataStores.clear(who, id),
});

const getRecord = versionedEndpoint({
  method: 'get',
  path: `${path}/record`,
  name: 'getDataStoreRecord',
  tag,
  summary: 'A record of a data store',
  description: 'Answers 404 where there is none, or where it has expired. `etag` is for `if-match` of a change.',
  pathId,
  parameters: z.object({ key: keyParameter }),
  schema: recordSchema,
  handle: async ({ engine, who, id, input }) => tagged(await engine.dataStores.getRecord(who, id, input.key)),
});

const putRecord = versionedEndpoint({
  method: 'put',
  path: `${path}/record`,
  name: 'putDataStoreRecord',
  example: { key: 'customer:42', value: { name: 'Ada' } },
  tag,
  summary: 'Set a record of a data store',
  description:
    'Replaces what was there, with its end. With `if-match` or `if-none-match: *` nobody else writes between the check and the change.',
  mayCreate: true,
  pathId,
  parameters: z
    .object({
      key: keyParameter,
      value: z.unknown().openapi({ description: 'Any JSON value.' }),
      ttl: z.number().optional().openapi({ description: 'Seconds after which it is gone. Default: it stays.' }),
    })
    .refine((input) => input.value !== undefined, { path: ['value'], message: 'is required' }),
  schema: recordSchema,
  handle: async ({ engine, who, id, input: { key, value, ttl }, condition }) =>
    tagged(await engine.dataStores.putRecord(who, id, { key, value, ...given({ ttlSeconds: ttl }) }, condition)),
});

const deleteRecord = emptyEndpoint({
  method: 'delete',
  path: `${path}/record`,
  name: 'deleteDataStoreRecord',
  isVersioned: true,
  tag,
  summary: 'Delete a record of a data store',
  description: 'Answers 404 where there is none.',
  pathId,
  parameters: z.object({ key: keyParameter }),
  status: 204,
  handle: async ({ engine, who, id, input, condition }) =>
    engine.dataStores.deleteRecord(who, id, input.key, condition),
});

function tagged(record: TaggedRecord) {
  return { item: presentRecord(record), revision: record.tag };
}
