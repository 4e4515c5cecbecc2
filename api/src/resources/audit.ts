import { z } from '@hono/zod-openapi';
import type { AuditEntry } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

const fields = (description: string) => z.record(z.string(), z.unknown()).nullable().openapi({ description });

export const auditEntrySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the entry.', example: 'aud_1vZ8kQ0aB3xYpL9mWc2T' }),
    account_id: z.string().nullable().openapi({ description: 'Whose; null: the instance.' }),
    at: secondsField('When it was done.'),
    actor_id: z.string().openapi({ description: 'The key that did it (`key_…`), or `operator`.' }),
    actor_name: z.string().openapi({ description: 'The name of the key.' }),
    address: z.string().nullable().openapi({ description: 'Where the request came from.' }),
    action: z.string().openapi({ description: 'The `operationId` of this document.', example: 'updateSource' }),
    thing: z.string().openapi({ description: 'The id that it was done to; the path where there is none.' }),
    before: fields('The fields that the change has changed, as they were. Secrets are masked.'),
    after: fields('The same, as they are after it.'),
    request_id: z.string().openapi({ description: 'As the answer had it in `x-request-id`.' }),
  })
  .openapi('AuditEntry');

export function presentAuditEntry(entry: AuditEntry): z.output<typeof auditEntrySchema> {
  return {
    id: entry.id,
    account_id: entry.accountId ?? null,
    at: epochSeconds(entry.at),
    actor_id: entry.actorId,
    actor_name: entry.actorName,
    address: entry.address ?? null,
    action: entry.action,
    thing: entry.thing,
    before: entry.before ?? null,
    after: entry.after ?? null,
    request_id: entry.requestId,
  };
}
