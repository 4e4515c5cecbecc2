import { ID_PREFIXES, newId } from '@headwater/shared';
import type { Audit, AuditEntry } from '../../contract/audit.ts';
import { createBatcher } from '../../db/batcher.ts';
import type { Sql } from '../../db/database.ts';
import { encodeCursor, inPageOrder, readPage } from '../../db/paging.ts';
import { auditWhere, insertAuditEntries, readAuditEntries } from './audit-log.sql.ts';

const MAX_BATCH = 256;
const MIN_INTERVAL_MS = 2;
/** The list of what happens stops to count here. */
const MAX_COUNTED = 10_000;

export function createAudit(sql: Sql): Audit {
  const entries = createBatcher<Omit<AuditEntry, 'at'>, void>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    async commit(batch) {
      await insertAuditEntries(sql, batch);
      return batch.map(() => undefined);
    },
  });
  return {
    record: (entry) => entries.add({ ...entry, id: newId('auditEntry') }),
    async list(accountId, request, choice) {
      const where = auditWhere(sql, choice);
      const query = { table: 'audit_log', accountId, where, order: 'id', maxCounted: MAX_COUNTED } as const;
      const { ids, ...page } = await readPage(sql, query, { ...request, ...placeOf(request.after) });
      return { ...page, items: inPageOrder(ids, await readAuditEntries(sql, accountId, ids)) };
    },
  };
}

const IS_ID = new RegExp(`^${ID_PREFIXES.auditEntry}\\w{1,64}$`);

/** The id of an entry is the place behind it, as well as a cursor is. */
function placeOf(after: string | undefined) {
  return after !== undefined && IS_ID.test(after) ? { after: encodeCursor({ id: after, micros: 0 }) } : {};
}
