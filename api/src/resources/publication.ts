import type { Publication } from '@headwater/engine';
import type { publicationSchema, Shown } from '@headwater/shared/contract';

export function presentPublication({ sourceId, traceId, events }: Publication): Shown<typeof publicationSchema> {
  return {
    source_id: sourceId,
    trace_id: traceId,
    events: events.map(({ id, emitId, messageId, givenId, isDuplicate }) => ({
      id,
      emit_id: emitId,
      message_id: messageId,
      given_id: givenId ?? null,
      duplicate: isDuplicate,
    })),
  };
}
