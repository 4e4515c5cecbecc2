import { z } from '@hono/zod-openapi';
import { STACK_RESOURCE_KINDS, type StackRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const stackSchema = z
  .object({
    name: z.string().openapi({ description: 'Unique in the account.', example: 'shop' }),
    resources: z
      .array(
        z.object({
          kind: z.enum(STACK_RESOURCE_KINDS).openapi({ description: 'What it is.' }),
          key: z.string().openapi({ description: 'Its name in the folder.' }),
          id: z.string().openapi({ description: 'Its id; of an environment variable its name.' }),
          secrets: z.string().optional().openapi({
            description:
              'A fingerprint of the secrets that it was last given. Left out for keys that may not read secrets.',
          }),
        }),
      )
      .openapi({ description: 'What was made from the folder.' }),
    held_until: secondsField('Until then only its holder changes it.').nullable(),
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('Stack');

export function presentStack(stack: StackRecord, withSecrets: boolean): z.output<typeof stackSchema> {
  return {
    name: stack.name,
    resources: stack.resources.map(({ kind, key, id, secrets }) => ({
      kind,
      key,
      id,
      ...(secrets === undefined || !withSecrets ? {} : { secrets }),
    })),
    held_until: stack.heldUntil === undefined ? null : epochSeconds(stack.heldUntil),
    created_at: epochSeconds(stack.createdAt),
    updated_at: epochSeconds(stack.updatedAt),
  };
}
