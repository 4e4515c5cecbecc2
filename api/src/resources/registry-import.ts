import { z } from '@hono/zod-openapi';
import type { ImportRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const importSchema = z
  .object({
    id: z.string().openapi({ example: 'imp_1vZ8kQ0aB3xYpL9mWc2T' }),
    scope: z.enum(['draft', 'account', 'registry']),
    status: z.enum(['running', 'done']),
    total: z.int().openapi({ description: 'Components that were found.' }),
    succeeded: z.int(),
    failed: z.int(),
    components: z
      .array(
        z.object({
          path: z.string(),
          status: z.enum(['ok', 'failed']),
          component_id: z.string().nullable(),
          key: z.string().nullable(),
          version: z.string().nullable(),
          error: z.string().nullable(),
          errors: z.array(z.object({ path: z.string(), message: z.string() }).loose()),
        }),
      )
      .openapi({ description: 'Those that are through, in the order of their paths.' }),
    created_at: secondsField('When it began.'),
    ended_at: secondsField('When it ended; null while it goes on.').nullable(),
  })
  .openapi('RegistryImport');

export function presentImport(record: ImportRecord): z.output<typeof importSchema> {
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
