import { z } from '@hono/zod-openapi';
import type { ImportRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const importSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the import.', example: 'imp_1vZ8kQ0aB3xYpL9mWc2T' }),
    scope: z.enum(['draft', 'account', 'registry']).describe('Saved alone; or published for the account, or for all.'),
    status: z.enum(['running', 'done']).describe('`done`: every component is through.'),
    total: z.int().openapi({ description: 'Components that were found.' }),
    succeeded: z.int().describe('Components that are saved.'),
    failed: z.int().describe('Components that cannot be used.'),
    components: z
      .array(
        z.object({
          path: z.string().describe('Its file in the archive.'),
          status: z.enum(['ok', 'failed']).describe('Whether it is saved.'),
          component_id: z.string().nullable().describe('The saved component. Null: it failed.'),
          key: z.string().nullable().describe('Its key. Null: it has none.'),
          version: z.string().nullable().describe('Its version. Null: it failed.'),
          error: z.string().nullable().describe('Why it failed. Null: it did not.'),
          errors: z
            .array(
              z
                .object({
                  path: z.string().describe('The part of the component.'),
                  message: z.string().describe('What is wrong with it.'),
                })
                .loose(),
            )
            .describe('Everything that is wrong with it.'),
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
