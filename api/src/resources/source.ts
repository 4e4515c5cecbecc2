import type { RunRecord, SourceRecord } from '@headwater/engine';
import type { runSchema, Shown, sourceSchema } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentSource(source: SourceRecord): Shown<typeof sourceSchema> {
  return {
    id: source.id,
    user_id: source.userId,
    component_id: source.componentId,
    name: source.name,
    name_slug: source.nameSlug,
    active: source.active,
    configured_props: source.configuredProps,
    configurable_props: source.configurableProps,
    preflight: source.preflight,
    durability: source.durability,
    created_at: epochSeconds(source.createdAt),
    updated_at: epochSeconds(source.updatedAt),
    last_event_at: source.lastEventAt === undefined ? null : epochSeconds(source.lastEventAt),
    last_error:
      source.lastError === undefined
        ? null
        : { at: epochSeconds(source.lastError.at), message: source.lastError.message ?? null },
  };
}

export function presentRun(run: RunRecord): Shown<typeof runSchema> {
  return {
    id: run.id,
    kind: run.kind,
    caused_by: run.causedBy ?? null,
    status: run.status,
    error:
      run.error === undefined ? null : { ...run.error, stack: run.error.stack ?? null, limit: run.error.limit ?? null },
    logs: run.logs.map(({ atMs: at_ms, level, message, limit }) => ({
      at_ms,
      level,
      message,
      ...(limit === undefined ? {} : { limit }),
    })),
    ...(run.logsAreCut === true ? { truncated: ['logs' as const] } : {}),
    emitted: run.emitted ?? null,
    deduped: run.deduped ?? null,
    started_at_ms: run.startedAt.getTime(),
    ended_at_ms: run.endedAt.getTime(),
  };
}
