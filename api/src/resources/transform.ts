import { z } from '@hono/zod-openapi';
import type { PreviewedRequest, TransformPreview } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';

const requestSchema = z.object({
  method: z.string().describe('`POST`, `PUT` or `PATCH`.'),
  path: z.string().openapi({ description: 'With the query.' }),
  headers: z.record(z.string(), z.string()).openapi({
    description: 'Names in lower case. Own headers of the webhook, its proof and its signature come later.',
  }),
  body: z.string().describe('As it is sent.'),
  is_cut: z.boolean().openapi({
    description: `The body has more than ${LIMITS.maxPreviewedBodyChars} characters: these are the first.`,
  }),
});

export const transformPreviewSchema = z
  .object({
    events: z
      .array(
        z.object({
          event_id: z.string().describe('The id of the event, among those of its emitter.'),
          emit_id: z.string().describe('The same with the emitter before it, unique over all emitters.'),
          emitter_id: z.string().describe('The source or workflow that emitted it; `test`: it is made up.'),
          event_name: z.string().openapi({ description: 'The channel; empty: the default one.' }),
          outcome: z.enum(['sent', 'dropped', 'failed']).describe('What would become of the delivery.'),
          before: requestSchema.describe('The request as the transform gets it.'),
          after: requestSchema.nullable().openapi({ description: 'Null where nothing would be sent.' }),
          reason: z.string().nullable().openapi({ description: 'Of one that is dropped; it may be empty.' }),
          error: z.string().nullable().describe('Why the transform failed. Null: it did not.'),
          logs: z.array(z.string()).openapi({ description: 'The first lines that it logged.' }),
        }),
      )
      .describe('One for each event, in the order of the request.'),
  })
  .openapi('TransformPreview');

export function presentPreviews(previews: readonly TransformPreview[]): z.output<typeof transformPreviewSchema> {
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
