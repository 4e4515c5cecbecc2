import { HeadwaterError, newId, notFound } from '@headwater/shared';
import type {
  ExpectedRevisions,
  Page,
  Principal,
  SourceCreate,
  SourcePageRequest,
  SourceRecord,
  Sources,
  SourceUpdate,
} from '../contract/index.ts';
import { runEventText } from '../events/index.ts';
import { DEFAULT_TIME_ZONE, timerOf } from '../schedule/index.ts';
import { namedLike, readPage } from '../db/index.ts';
import { type Intake, pageRuns, readRuns } from '../runs/index.ts';
import {
  readSource,
  readSourceActivity,
  readSourcesById,
  type SourceActivity,
  type SourceRow,
} from './read-sources.sql.ts';
import { changeSource, deleteSource } from './change-source.ts';
import { deploySource } from './deploy-source.ts';
import { inAccountTurn, type LifecycleContext } from './lifecycle.ts';
import type { TraceContexts } from '../tracing/index.ts';
import { type PropOpener, publicProps } from '../props/index.ts';

export interface SourcesContext extends LifecycleContext {
  intake: Pick<Intake, 'add'>;
  traces: Pick<TraceContexts, 'keep'>;
}

/**
 * Event sources as the API sees them. Every method answers NOT_FOUND for a source of another
 * account.
 */
export function createSources(context: SourcesContext): Sources {
  const { db, room, intake, traces, sealer: opener } = context;
  async function find(who: Principal, id: string): Promise<SourceRow> {
    const row = id.includes('\0') ? undefined : await readSource(db.sql, who.accountId, id);
    if (row === undefined) throw notFound('source', id);
    return row;
  }

  async function recordsOf(rows: readonly SourceRow[]): Promise<SourceRecord[]> {
    const activities = await readSourceActivity(
      db.sql,
      rows.map(({ id }) => id),
    );
    const byId = new Map(activities.map((activity) => [activity.id, activity]));
    return rows.map((row) => ({ ...recordOf(opener, row), ...activityOf(byId.get(row.id)) }));
  }

  const recordById = async (who: Principal, id: string) => {
    const row = await find(who, id);
    const [activity] = await readSourceActivity(db.sql, [id]);
    return { ...recordOf(opener, row), ...activityOf(activity) };
  };
  const changedRecord = (who: Principal, id: string) =>
    inAccountTurn(context, who.accountId, () => recordById(who, id));

  return {
    async create(who: Principal, input: SourceCreate) {
      return changedRecord(who, await deploySource(context, who, input));
    },
    get: recordById,
    async list(who: Principal, { query: text, userId, ...request }: SourcePageRequest): Promise<Page<SourceRecord>> {
      const named = namedLike(db.sql, ['name', 'name_slug', 'id'], text);
      const made = userId === undefined ? db.sql`` : db.sql`and user_id = ${userId}`;
      const where = db.sql`and deleted_at is null and deployed_at is not null ${named} ${made}`;
      const bytes = db.sql`octet_length(configured_props::text) + octet_length(dynamic_props::text)
        + (select octet_length(c.configurable_props::text) from components c where c.id = component_id)`;
      const query = { table: 'sources', accountId: who.accountId, where, order: 'created', bytes } as const;
      const { ids, ...page } = await readPage(db.sql, query, request);
      const rows = await readSourcesById(db.sql, who.accountId, ids);
      return { ...page, items: await recordsOf(rows) };
    },
    async update(who: Principal, id: string, change: SourceUpdate, expected?: ExpectedRevisions) {
      await context.changeTurns.run(who.accountId, () => changeSource(context, who, id, change, expected));
      return changedRecord(who, id);
    },
    async delete(who, id, expected) {
      // Workflows delete theirs one after the other.
      await context.changeTurns.runLate(who.accountId, () => deleteSource(context, who, id, expected));
    },
    async run(who, id, event, caller) {
      const row = await find(who, id);
      if (!row.active) throw new HeadwaterError('CONFLICT', `Source ${id} is not active; set active to true to run it`);
      const text = runEventText(event ?? defaultEvent(row));
      await room.limits(who.accountId);
      const invocationId = newId('invocation');
      await traces.keep(who.accountId, invocationId, caller);
      await intake.add({ id: invocationId, accountId: who.accountId, sourceId: id, kind: 'manual', event: text });
      return { invocationId };
    },
    runs: async (who, id, limit) => readRuns(db.sql, who.accountId, (await find(who, id)).id, limit),
    runsWithQuiet: async (who, id, page) => pageRuns(db.sql, who.accountId, (await find(who, id)).id, page),
  };
}

/**
 * The event of "run now" when the caller gives none: a tick if the source has a timer, else an
 * empty object.
 */
function defaultEvent(row: SourceRow): unknown {
  const timer = row.configurable_props.find((definition) => definition.type === '$.interface.timer');
  if (timer === undefined) return {};
  const { intervalSeconds, cron, timezone } = timerOf(row.configured_props[timer.name]);
  const zone = cron === undefined ? undefined : (timezone ?? DEFAULT_TIME_ZONE);
  return { timestamp: Math.floor(Date.now() / 1000), interval_seconds: intervalSeconds ?? null, cron, timezone: zone };
}

function activityOf(activity: SourceActivity | undefined): Pick<SourceRecord, 'lastEventAt' | 'lastError'> {
  const { last_event_ms: eventMs = null, last_error_ms: errorMs = null, last_error_message: message } = activity ?? {};
  return {
    ...(eventMs === null ? {} : { lastEventAt: new Date(eventMs) }),
    ...(errorMs === null
      ? {}
      : { lastError: { at: new Date(errorMs), ...(message === null || message === undefined ? {} : { message }) } }),
  };
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
    configurableProps: row.configurable_props,
    preflight: row.preflight,
    durability: row.durability,
    revision: row.revision,
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
