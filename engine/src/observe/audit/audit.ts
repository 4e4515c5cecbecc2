import { ERRORS, HeadwaterError, ID_PREFIXES, newId } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Audit, AuditEntry, Log } from '../../contract/index.ts';
import { createBatcher, encodeCursor, failsEachTime, inPageOrder, readPage, type Sql } from '../../db/index.ts';
import { OidcRefusal } from '../../people/index.ts';
import { auditWhere, deleteBegunEntries, readAuditEntries, writeAuditEntries } from './audit-log.sql.ts';

const MAX_BATCH = 256;
const MIN_INTERVAL_MS = 2;
/** The list of what happens stops to count here. */
const MAX_COUNTED = 10_000;
const MAX_TRIES = 4;
const PAUSE_MS = 100;
/** A client that waits longer may give up, and send a change again that was made. */
const ANSWER_WAITS_MS = 2_000;

type Write = { entry: Omit<AuditEntry, 'at'> } | { refused: string };

export function createAudit(sql: Sql, log: Log): Audit {
  const writes = createBatcher<Write, void>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    isItemsFault: failsEachTime,
    // Two statements without a transaction: each can be repeated.
    async commit(batch) {
      const entries = batch.flatMap((write) => ('entry' in write ? [write.entry] : []));
      const refused = batch.flatMap((write) => ('refused' in write ? [write.refused] : []));
      if (entries.length > 0) await writeAuditEntries(sql, entries);
      if (refused.length > 0) await deleteBegunEntries(sql, refused);
      return batch.map(() => undefined);
    },
  });
  const settle = (id: string, action: string, all: readonly Write[]) => {
    const stored = again(() => Promise.all(all.map((write) => writes.add(write)))).catch((err: unknown) =>
      log.error({ err, action, audit_entry: id }, 'the audit log has no outcome of a change'),
    );
    const { promise: waited, resolve: answer } = Promise.withResolvers<void>();
    const timer = setTimeout(answer, ANSWER_WAITS_MS);
    return Promise.race([stored, waited]).finally(() => clearTimeout(timer));
  };
  return {
    async change(begun, make, made) {
      const id = newId('auditEntry');
      await writes.add({ entry: { ...begun, id, outcome: 'unknown' } });
      let value: Awaited<ReturnType<typeof make>>;
      try {
        value = await make();
      } catch (error) {
        // After any other failure the change may be there nonetheless, or a part of it.
        if (isRefusal(error)) await settle(id, begun.action, [{ refused: id }]);
        throw error;
      }
      const lines = made(value).map((entry, at): Write => {
        return { entry: { ...entry, id: at === 0 ? id : newId('auditEntry'), outcome: 'made' } };
      });
      await settle(id, begun.action, lines.length === 0 ? [{ refused: id }] : lines);
      return value;
    },
    async list(accountId, request, choice) {
      const where = auditWhere(sql, choice);
      const query = { table: 'audit_log', accountId, where, order: 'id', maxCounted: MAX_COUNTED } as const;
      const { ids, ...page } = await readPage(sql, query, { ...request, ...placeOf(request.after) });
      return { ...page, items: inPageOrder(ids, await readAuditEntries(sql, accountId, ids)) };
    },
  };
}

function isRefusal(error: unknown): boolean {
  if (error instanceof OidcRefusal) return true;
  return error instanceof HeadwaterError && ERRORS[error.code].status < 500 && !error.leftBehind;
}

/** Tries again after a lost connection: there is another one in a moment. */
async function again(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await write();
      return;
    } catch (error) {
      if (tries === MAX_TRIES || failsEachTime(error)) throw error;
    }
    await sleep(PAUSE_MS * tries);
  }
}

const IS_ID = new RegExp(`^${ID_PREFIXES.auditEntry}\\w{1,64}$`);

/** The id of an entry is the place behind it, as well as a cursor is. */
function placeOf(after: string | undefined) {
  return after !== undefined && IS_ID.test(after) ? { after: encodeCursor({ id: after, micros: 0 }) } : {};
}
