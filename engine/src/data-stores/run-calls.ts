import type { DataStoreAnswer, DataStoreCall } from '@headwater/sandbox-runtime';
import { createLimiter, type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import { decodeKeyCursor, encodeKeyCursor, retryWhileAway, type Sql } from '../db/index.ts';
import { clearDataStore } from './delete-records.sql.ts';
import {
  hasDataStoreRecord,
  listDataStoreRecords,
  readDataStoreRecord,
  setDataStoreRecord,
  deleteDataStoreRecord,
} from './data-store-records.sql.ts';
import { findDataStores } from './data-stores.sql.ts';
import { findKeyProblem, findTtlProblem, findValueProblem, type RecordProblem } from './check-record.ts';
import { endAtPace } from '../fairness/index.ts';

/**
 * A megabyte of values is some tens of milliseconds of the node's only thread, and as much of the
 * database.
 */
const PACE = { smallChars: LIMITS.smallValueChars, charsPerSecond: LIMITS.dataStoreCharsPerSecond };

/** The account of the run, with the limits that the run was started with. */
interface StoreTenant {
  id: string;
  limits: AccountLimits;
}

/** `onAway`: called when the database does not answer, before it is asked again. */
export type CallDataStore = (
  tenant: StoreTenant,
  call: DataStoreCall,
  signal: AbortSignal,
  onAway?: () => void,
) => Promise<DataStoreAnswer>;

/**
 * Serves data store calls of runs, a few per account at a time, so that other accounts get database
 * connections. Large calls are paced. A write is stored once it is answered: it is no part of its
 * run's commit (docs/adr/015-data-stores.md). Never rejects for errors of the component.
 */
export function createDataStoreCalls(sql: Sql, hasOthers: (accountId: string) => boolean): CallDataStore {
  const turns = createLimiter(LIMITS.maxDataStoreCallsPerTenant);
  const waitingBytes = new Map<string, number>();

  const inTurn: CallDataStore = async (tenant, call, signal, onAway) => {
    const end = await turns.take(tenant.id, signal);
    if (end === undefined) return refuse('The run is over');
    let chars = call.valueJson?.length ?? 0;
    try {
      // A call that was done and not answered leaves the same when it is done again.
      const answered = await retryWhileAway(() => perform(sql, tenant, call), onAway);
      if (answered.ok && hasOthers(tenant.id)) chars = Math.max(chars, answered.json?.length ?? 0);
      return answered;
    } finally {
      endAtPace(end, chars, PACE);
    }
  };

  return async (tenant, call, signal, onAway) => {
    const problem = findProblem(tenant, call);
    if (problem !== undefined) return refuse(`${problem.field} ${problem.message}`, problem.limit);
    const bytes = call.valueJson?.length ?? 0;
    const waiting = (waitingBytes.get(tenant.id) ?? 0) + bytes;
    const value = LIMITS.maxDataStoreBytesPerTenant;
    if (waiting > value) {
      const limit = { name: 'maxDataStoreBytesPerTenant', value, used: waiting } as const;
      return refuse('Too many values of this account wait to be stored', limit);
    }
    waitingBytes.set(tenant.id, waiting);
    try {
      return await inTurn(tenant, call, signal, onAway);
    } finally {
      const left = (waitingBytes.get(tenant.id) ?? 0) - bytes;
      if (left > 0) waitingBytes.set(tenant.id, left);
      else waitingBytes.delete(tenant.id);
    }
  };
}

function findProblem(
  { limits }: StoreTenant,
  { op, key, valueJson, ttlSeconds }: DataStoreCall,
): RecordProblem | undefined {
  if (op === 'keys' || op === 'entries' || op === 'clear') return undefined;
  const problem = findKeyProblem(key);
  if (problem !== undefined || op !== 'set') return problem;
  if (valueJson === undefined) return { field: 'value', message: 'must be something that JSON can hold' };
  return findValueProblem(valueJson, limits) ?? findTtlProblem(ttlSeconds);
}

async function perform(sql: Sql, tenant: StoreTenant, call: DataStoreCall): Promise<DataStoreAnswer> {
  const { storeId, key = '' } = call;
  switch (call.op) {
    case 'get': {
      const row = await readDataStoreRecord(sql, tenant.id, storeId, key);
      if (row === undefined) return absent(storeId);
      return row === null ? { ok: true } : { ok: true, json: row.value };
    }
    case 'has': {
      const has = await hasDataStoreRecord(sql, tenant.id, storeId, key);
      return has === undefined ? absent(storeId) : answer(has);
    }
    case 'set':
      return set(sql, tenant, call);
    case 'delete': {
      const outcome = await deleteDataStoreRecord(sql, tenant.id, storeId, key);
      return outcome === 'absent' ? absent(storeId) : answer(outcome === 'deleted');
    }
    case 'clear':
      return (await clearDataStore(sql, tenant.id, storeId)) ? { ok: true } : absent(storeId);
    case 'keys':
    case 'entries':
      return list(sql, tenant, call);
  }
}

async function set(sql: Sql, { id, limits }: StoreTenant, call: DataStoreCall): Promise<DataStoreAnswer> {
  const { storeId, key = '', valueJson: value = 'null', ttlSeconds } = call;
  const record = { key, value, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) };
  const outcome = await setDataStoreRecord(sql, id, storeId, record, limits);
  switch (outcome.kind) {
    case 'set':
      return { ok: true };
    case 'absent':
      return absent(storeId);
    case 'full': {
      const { name, value: most, used } = outcome.limit;
      return refuse(`The data store is full: the limit ${name} is ${most}, this would make it ${used}`, outcome.limit);
    }
  }
}

async function list(sql: Sql, { id }: StoreTenant, { storeId, op, cursor }: DataStoreCall): Promise<DataStoreAnswer> {
  const after = cursor === undefined ? undefined : decodeKeyCursor(cursor);
  if (cursor !== undefined && after === undefined) return refuse('cursor is not one of this list');
  const withValues = op === 'entries';
  const { rows, hasMore } = await listDataStoreRecords(sql, id, storeId, {
    ...(after === undefined ? {} : { after }),
    maxRecords: LIMITS.dataStorePageRecords,
    maxBytes: LIMITS.dataStorePageBytes,
    withValues,
  });
  if (rows.length === 0 && !(await findDataStores(sql, id, [storeId])).has(storeId)) return absent(storeId);
  const items = rows.map(({ key, value }) => (withValues ? `[${JSON.stringify(key)},${value}]` : JSON.stringify(key)));
  const last = rows.at(-1);
  const next = hasMore && last !== undefined ? `,"cursor":${JSON.stringify(encodeKeyCursor(last.key))}` : '';
  return { ok: true, json: `{"items":[${items.join(',')}]${next}}` };
}

function answer(value: boolean): DataStoreAnswer {
  return { ok: true, json: String(value) };
}

function absent(storeId: string): DataStoreAnswer {
  return refuse(`The data store ${storeId} was deleted`);
}

function refuse(message: string, limit?: ExceededLimit): DataStoreAnswer {
  return { ok: false, message, ...(limit === undefined ? {} : { limit }) };
}
