import type { ImportRecord } from '@headwater/engine';
import type { importSchema, Shown } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentImport(record: ImportRecord): Shown<typeof importSchema> {
  const failed = record.components.filter(({ error }) => error !== undefined).length;
  return {
    id: record.id,
    scope: record.scope,
    status: record.endedAt === undefined ? 'running' : 'done',
    total: record.total,
    succeeded: record.components.length - failed,
    failed,
    components: record.components.map(({ path, componentId, key, version, error }) => ({
      path,
      status: error === undefined ? 'ok' : 'failed',
      component_id: componentId ?? null,
      key: key ?? null,
      version: version ?? null,
      error: error?.message ?? null,
      errors: (error?.errors ?? []).map((field) => ({ ...field })),
    })),
    created_at: epochSeconds(record.createdAt),
    ended_at: record.endedAt === undefined ? null : epochSeconds(record.endedAt),
  };
}
