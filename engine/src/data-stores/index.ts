export { findDataStores } from './data-stores.sql.ts';
export { createDataStores } from './data-stores.ts';
export { deleteExpiredRecords } from './delete-records.sql.ts';
export { type CallDataStore, createDataStoreCalls } from './run-calls.ts';
