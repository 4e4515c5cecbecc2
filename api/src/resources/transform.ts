import type { PreviewedRequest, TransformPreview } from '@headwater/engine';
import type { Shown, transformPreviewSchema } from '@headwater/shared/contract';

export function presentPreviews(previews: readonly TransformPreview[]): Shown<typeof transformPreviewSchema> {
  return { events: previews.map(presentPreview) };
}

function presentPreview(preview: TransformPreview) {
  return {
    event_id: preview.eventId,
    emit_id: preview.emitId,
    emitter_id: preview.emitterId,
    event_name: preview.channel,
    outcome: preview.outcome,
    before: presentRequest(preview.before),
    after: preview.outcome === 'sent' ? presentRequest(preview.after) : null,
    reason: preview.outcome === 'dropped' ? preview.reason : null,
    error: preview.outcome === 'failed' ? preview.error : null,
    logs: [...preview.logs],
  };
}

function presentRequest({ isCut, headers, ...request }: PreviewedRequest) {
  return { ...request, headers: { ...headers }, is_cut: isCut };
}
