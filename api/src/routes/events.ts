import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { emptyEndpoint, type Endpoint, listEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { eventSummarySchema, presentEvent } from '../resources/event.ts';
import { mapPage, wholePage } from '../resources/page.ts';

const tag = 'Events';
const pathId = 'The id of the source (`dc_…`).';

function eventIdParameter(description: string) {
  return z
    .string()
    .regex(/^\d{1,15}-\d{1,9}$/, 'must be an event id such as 1763640000123-0')
    .optional()
    .openapi({ description });
}

export function eventEndpoints(): Endpoint[] {
  return [
    listEndpoint({
      method: 'get',
      path: '/v1/sources/{id}/event_summaries',
      name: 'listEvents',
      tag,
      summary: 'The newest events of a source, newest first',
      pathId,
      parameters: z.object({
        limit: z.int().min(1).max(LIMITS.recentEvents).default(LIMITS.defaultPageSize),
        expand: z
          .string()
          .optional()
          .openapi({
            description: `\`event\`: the whole data of the events, up to ${LIMITS.maxSummariesBytes} bytes together.`,
            example: 'event',
          }),
      }),
      schema: eventSummarySchema,
      handle: async ({ engine, who, id, input }) => {
        const expand = input.expand?.split(',').includes('event') ?? false;
        const events = await engine.sources.events(who, id, { limit: input.limit, expand });
        return mapPage(
          wholePage(events, (event) => event.id),
          presentEvent,
        );
      },
    }),
    emptyEndpoint({
      method: 'delete',
      path: '/v1/sources/{id}/events',
      name: 'deleteEvents',
      tag,
      summary: 'Delete events of a source',
      description: 'Both ends are included; without one it is open, without both all events go.',
      pathId,
      parameters: z.object({
        start_id: eventIdParameter('The first event to delete.'),
        end_id: eventIdParameter('The last event to delete.'),
      }),
      status: 202,
      handle: async ({ engine, who, id, input }) =>
        engine.sources.deleteEvents(who, id, given({ startId: input.start_id, endId: input.end_id })),
    }),
  ];
}
