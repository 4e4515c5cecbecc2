import { z } from 'zod';
import { secondsField } from './fields.ts';

export const importSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the import.', example: 'imp_1vZ8kQ0aB3xYpL9mWc2T' }),
    scope: z.enum(['draft', 'account', 'registry']).describe('Saved alone; or published for the account, or for all.'),
    status: z.enum(['running', 'done']).describe('`done`: every component is through.'),
    total: z.int().meta({ description: 'Components that were found.' }),
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
      .meta({ description: 'Those that are through, in the order of their paths.' }),
    created_at: secondsField('When it began.'),
    ended_at: secondsField('When it ended; null while it goes on.').nullable(),
  })
  .meta({ id: 'RegistryImport' });
