import { z } from 'zod';
import { secondsField } from './fields.ts';

const fields = (description: string) => z.record(z.string(), z.unknown()).nullable().meta({ description });

export const auditEntrySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the entry.', example: 'aud_1vZ8kQ0aB3xYpL9mWc2T' }),
    account_id: z.string().nullable().meta({ description: 'Whose; null: the instance.' }),
    at: secondsField('When it was done.'),
    actor_id: z.string().meta({ description: 'The key that did it (`key_…`), or `operator`.' }),
    actor_name: z.string().meta({ description: 'The name of the key.' }),
    address: z.string().nullable().meta({ description: 'Where the request came from.' }),
    action: z.string().meta({ description: 'The `operationId` of this document.', example: 'updateSource' }),
    thing: z.string().meta({ description: 'The id that it was done to; the path where there is none.' }),
    before: fields('The fields that the change has changed, as they were. Secrets are masked.'),
    after: fields('The same, as they are after it.'),
    outcome: z.enum(['made', 'unknown']).meta({
      description:
        '`unknown`: the change is under way, was answered with 5xx, left something behind when it failed, or its node ended before it could say what became of it. Look at the thing, and read the entry again: it becomes `made`, or goes where the change was refused.',
    }),
    request_id: z.string().meta({ description: 'As the answer had it in `x-request-id`.' }),
  })
  .meta({ id: 'AuditEntry' });
