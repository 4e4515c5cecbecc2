import type { AuditEntry } from '@headwater/engine';
import type { auditEntrySchema, Shown } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentAuditEntry(entry: AuditEntry): Shown<typeof auditEntrySchema> {
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
    outcome: entry.outcome,
    request_id: entry.requestId,
  };
}
