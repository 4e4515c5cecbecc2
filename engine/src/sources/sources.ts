import { HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import type { Page, PageRequest, Principal, SourceCreate, SourceRecord, Sources, SourceUpdate } from '../contract.ts';
import { parseEventId } from '../events/event-id.ts';
import { deleteEvents } from '../store/delete-events.ts';
import { readPage } from '../store/paging.ts';
import { readEvents } from '../store/read-events.ts';
import { readRuns } from '../store/read-runs.ts';
import { readSource, readSourcesById, type SourceRow } from '../store/read-sources.ts';
import { insertInvocations } from '../store/insert-invocations.ts';
import { changeSource, deleteSource } from './change-source.ts';
import { deploySource } from './deploy-source.ts';
import type { LifecycleContext } from './lifecycle.ts';
import { type PropOpener, publicProps, timerOf } from './run-props.ts';

/** Event sources as the API sees them. Every method answers NOT_FOUND for a source of another account. */
export function createSources(context: LifecycleContext): Sources {
  const { db, sealer: opener } = context;
  async function find(who: Principal, id: string): Promise<SourceRow> {
    const row = id.includes('\0') ? undefined : await readSource(db.sql, who.accountId, id);
    if (row === undefined) throw notFound('source', id);
    return row;
  }

  const recordById = async (who: Principal, id: string) => recordOf(opener, await find(who, id));

  return {
    async create(who: Principal, input: SourceCreate) {
      return recordById(who, await deploySource(context, who, input));
    },
    get: recordById,
    async list(who: Principal, request: PageRequest): Promise<Page<SourceRecord>> {
      const where = db.sql`and deleted_at is null and deployed_at is not null`;
      const query = { table: 'sources', accountId: who.accountId, where, order: 'created' } as const;
      const { ids, ...page } = await readPage(db.sql, query, request);
      const rows = await readSourcesById(db.sql, who.accountId, ids);
      return { ...page, items: rows.map((row) => recordOf(opener, row)) };
    },
    async update(who: Principal, id: string, change: SourceUpdate) {
      await find(who, id);
      await changeSource(context, who, id, change);
      return recordById(who, id);
    },
    async delete(who, id) {
      await find(who, id);
      await deleteSource(context, who, id);
    },
    async run(who, id, event) {
      const row = await find(who, id);
      if (!row.active) throw new HeadwaterError('CONFLICT', `Source ${id} is not active; set active to true to run it`);
      const text = JSON.stringify(event ?? defaultEvent(row));
      if (Buffer.byteLength(text) > LIMITS.maxHttpBodyBytes) {
        throw new HeadwaterError('PAYLOAD_TOO_LARGE', `event has more than ${LIMITS.maxHttpBodyBytes} bytes as JSON`);
      }
      const invocationId = newId('invocation');
      await insertInvocations(db.sql, [
        { id: invocationId, accountId: who.accountId, sourceId: id, kind: 'manual', event: text },
      ]);
      return { invocationId };
    },
    async events(who, id, options) {
      await find(who, id);
      return readEvents(db.sql, who.accountId, id, options);
    },
    async deleteEvents(who, id, range) {
      await find(who, id);
      const start = position('start_id', range.startId);
      const end = position('end_id', range.endId);
      await deleteEvents(db.sql, who.accountId, id, { ...(start && { start }), ...(end && { end }) });
    },
    async runs(who, id, limit) {
      await find(who, id);
      return readRuns(db, who.accountId, id, limit);
    },
  };
}

function position(path: string, text: string | undefined): ReturnType<typeof parseEventId> {
  if (text === undefined) return undefined;
  const parsed = parseEventId(text);
  if (parsed !== undefined) return parsed;
  const message = 'Expected an event id such as 1606511826306-0';
  throw new HeadwaterError('INVALID_REQUEST', `${path}: ${message}`, { fields: [{ path, message }] });
}

/** What "run now" hands to a source when the caller gives no event: a tick for a timer, an empty event otherwise. */
function defaultEvent(row: SourceRow): unknown {
  const timer = row.configurable_props.find((definition) => definition.type === '$.interface.timer');
  if (timer === undefined) return {};
  const { intervalSeconds, cron } = timerOf(row.configured_props[timer.name]);
  return { timestamp: Math.floor(Date.now() / 1000), interval_seconds: intervalSeconds, cron };
}

function recordOf(opener: PropOpener, row: SourceRow): SourceRecord {
  return {
    id: row.id,
    userId: row.user_id,
    componentId: row.component_id,
    name: row.name,
    nameSlug: row.name_slug,
    active: row.active,
    configuredProps: publicProps(opener, {
      accountId: row.account_id,
      definitions: row.configurable_props,
      configured: row.configured_props,
      endpoints: row.endpoints ?? {},
    }),
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
