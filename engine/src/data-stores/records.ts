import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import { type LimitsCache, overLimit } from '../accounts/index.ts';
import { type BoundedTurns, restAfterLongMs } from '../fairness/index.ts';
import {
  checkCondition,
  type Condition,
  contentTag,
  type DataStores,
  type Page,
  type Principal,
  type StoredRecord,
  type TaggedRecord,
} from '../contract/index.ts';
import { clearDataStore } from './delete-records.sql.ts';
import {
  type CheckRecord,
  countDataStoreRecords,
  listDataStoreRecords,
  readDataStoreRecord,
  type RecordRow,
  setDataStoreRecord,
  deleteDataStoreRecord,
} from './data-store-records.sql.ts';
import { type Database, decodeKeyCursor, encodeKeyCursor } from '../db/index.ts';
import type { DataStoreRow } from './data-stores.sql.ts';
import { findKeyProblem, findTtlProblem, findValueProblem, type RecordProblem } from './check-record.ts';

interface RecordsOptions {
  db: Database;
  limits: Pick<LimitsCache, 'get'>;
  /** Throws NOT_FOUND. */
  find: (who: Principal, id: string) => Promise<DataStoreRow>;
  deletions: BoundedTurns;
}

type Records = Pick<DataStores, 'records' | 'getRecord' | 'putRecord' | 'deleteRecord' | 'clear'>;

export function createRecords({ db: { sql }, limits, find, deletions }: RecordsOptions): Records {
  async function get(who: Principal, id: string, key: string): Promise<TaggedRecord> {
    await find(who, id);
    check(findKeyProblem(key));
    const row = await readDataStoreRecord(sql, who.accountId, id, key);
    if (!row) throw notFound('record', key);
    return taggedRecordOf(row);
  }

  return {
    async records(who, id, { limit, after, prefix = '' }) {
      await find(who, id);
      const afterKey = after === undefined ? undefined : decodeKeyCursor(after);
      if (after !== undefined && afterKey === undefined) throw invalid('after', 'is not a cursor of this list');
      const query = { prefix, maxRecords: limit, maxBytes: LIMITS.maxPageBytes, withValues: true };
      const [{ rows }, total] = await Promise.all([
        listDataStoreRecords(sql, who.accountId, id, {
          ...query,
          ...(afterKey === undefined ? {} : { after: afterKey }),
        }),
        countDataStoreRecords(sql, who.accountId, id, prefix, LIMITS.maxCountedEvents),
      ]);
      return pageOf(rows, total);
    },
    getRecord: get,
    async putRecord(who, id, { key, value, ttlSeconds }, condition) {
      const account = await limits.get(who.accountId);
      const json = JSON.stringify(value) ?? 'null';
      check(findKeyProblem(key) ?? findValueProblem(json, account) ?? findTtlProblem(ttlSeconds));
      await find(who, id);
      const record = { key, value: json, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) };
      const outcome = await setDataStoreRecord(sql, who.accountId, id, record, account, checkOf(key, condition));
      if (outcome.kind === 'absent') throw notFound('data store', id);
      if (outcome.kind === 'full') throw overLimit(outcome.limit);
      return taggedRecordOf({ key, value: json, ...outcome.times });
    },
    async deleteRecord(who, id, key, condition) {
      await find(who, id);
      check(findKeyProblem(key));
      const outcome = await deleteDataStoreRecord(sql, who.accountId, id, key, checkOf(key, condition));
      if (outcome !== 'deleted') throw notFound('record', key);
    },
    async clear(who, id) {
      const clear = async () => !id.includes('\0') && (await clearDataStore(sql, who.accountId, id));
      if (!(await deletions.run(who.accountId, clear, restAfterLongMs))) throw notFound('data store', id);
    },
  };
}

function pageOf(rows: readonly RecordRow[], total: number): Page<StoredRecord> {
  const [first, last] = [rows[0], rows.at(-1)];
  return {
    items: rows.map(recordOf),
    total,
    ...(first && last ? { startCursor: encodeKeyCursor(first.key), endCursor: encodeKeyCursor(last.key) } : {}),
  };
}

function recordOf({ key, value, expires_ms: expiresMs, updated_ms: updatedMs }: RecordRow): StoredRecord {
  return {
    key,
    valueJson: value,
    ...(expiresMs === null ? {} : { expiresAt: new Date(expiresMs) }),
    updatedAt: new Date(updatedMs),
  };
}

function taggedRecordOf(row: RecordRow): TaggedRecord {
  return { ...recordOf(row), tag: tagOf(row) };
}

const tagOf = ({ value, expires_ms: expiresMs }: RecordRow) => contentTag(value, expiresMs);

function checkOf(key: string, condition: Condition | undefined): CheckRecord | undefined {
  if (condition === undefined) return undefined;
  return (now) => checkCondition(`record ${key}`, now && tagOf(now), condition);
}

function check(problem: RecordProblem | undefined): void {
  if (problem === undefined) return;
  const { field: path, ...fault } = problem;
  const code = path === 'value' ? 'PAYLOAD_TOO_LARGE' : 'INVALID_REQUEST';
  throw new HeadwaterError(code, `${path} ${fault.message}`, { fields: [{ path, ...fault }] });
}

function invalid(path: string, message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}
