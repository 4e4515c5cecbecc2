import { z } from 'zod';
import { secondsField } from './fields.ts';
import type { Shown } from './record.ts';

export const STACK_RESOURCE_KINDS = [
  'environment_variable',
  'data_store',
  'source',
  'workflow',
  'webhook',
  'subscription',
] as const;

export const stackSchema = z
  .object({
    name: z.string().meta({ description: 'Unique in the account.', example: 'shop' }),
    resources: z
      .array(
        z.object({
          kind: z.enum(STACK_RESOURCE_KINDS).meta({ description: 'What it is.' }),
          key: z.string().meta({ description: 'Its name in the folder.' }),
          id: z.string().meta({ description: 'Its id; of an environment variable its name.' }),
          secrets: z.string().optional().meta({
            description:
              'A fingerprint of the secrets that it was last given. Left out for keys that may not read secrets.',
          }),
        }),
      )
      .meta({ description: 'What was made from the folder.' }),
    held_until: secondsField('Until then only its holder changes it.').nullable(),
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .meta({ id: 'Stack' });

export type Stack = Shown<typeof stackSchema>;
