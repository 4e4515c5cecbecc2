import { z } from '@hono/zod-openapi';
import type { NewEvent } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { publicationSchema } from '@headwater/shared/contract';
import { type Endpoint, type EndpointRequest, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { timeParameter } from '../parameters/moment.ts';
import { textParameter } from '../parameters/schemas.ts';
import { presentPublication } from '../resources/publication.ts';

const tag = 'Events';

const eventParameters = {
  id: textParameter('maxEventIdChars', 1)
    .optional()
    .openapi({
      description: `Of the sender's. One that the source was given within ${LIMITS.publishedIdHours} hours is a duplicate and is not stored again. Default: none, and the event is new.`,
      example: 'order-4711-paid',
    }),
  event_name: channelParameter('The channel. Default: the default one.'),
  type: channelParameter('Another name for `event_name`.'),
  data: z
    .unknown()
    .optional()
    .openapi({
      description: 'Any JSON: what receivers get. Required.',
      example: { order: 4711, state: 'paid' },
    }),
  summary: textParameter('maxSummaryChars').optional().openapi({ description: 'A line for lists.' }),
  timestamp: timeParameter('When it happened, shown as `metadata.ts`.'),
};

const eventSchema = z.object(eventParameters);
type EventInput = z.output<typeof eventSchema>;

const publishParameters = z.object({
  ...eventParameters,
  events: z
    .array(eventSchema)
    .min(1)
    .max(LIMITS.maxPublishedEvents)
    .optional()
    .openapi({
      description: `A batch instead of one event: up to ${LIMITS.maxPublishedEvents}, stored all or none.`,
    }),
});

/** Channels that begin with `$` are the engine's. */
function channelParameter(description: string) {
  return textParameter('maxChannelChars')
    .refine((name) => !name.startsWith('$'), 'must not begin with $: such channels are built in')
    .optional()
    .openapi({ description });
}

export function publishEndpoints(): Endpoint[] {
  return [publish, publishToSource];
}

const DESCRIPTION = `Once it is answered the events are durable, and so is the duty to deliver them; \`x-headwater-run\` and \`trace_id\` lead to what becomes of them. A 429 or 503 has stored nothing and says in \`retry-after\` when to send it again; where no answer came, send it again with the same ids.`;

const publish = itemEndpoint({
  method: 'post',
  path: '/v1/events',
  name: 'publishEvents',
  takesTurn: false,
  isRateLimited: true,
  tag,
  summary: 'Publish an event, or a batch, without code',
  description: `The events go to the source \`Events\` of the account, which is made with the first of them and can be subscribed to, renamed and stopped like any other. ${DESCRIPTION}`,
  parameters: publishParameters,
  schema: publicationSchema,
  runIdOf: (publication) => publication.trace_id,
  handle: (request) => publishEvents(request),
});

const publishToSource = itemEndpoint({
  method: 'post',
  path: '/v1/sources/{id}/events',
  name: 'publishEventsToSource',
  takesTurn: false,
  isRateLimited: true,
  tag,
  summary: 'Publish an event, or a batch, as one of a source',
  description: `As if the source had emitted them; its code does not run. One that has no other purpose is made by \`POST /v1/sources\` with the kind \`ingest\`. ${DESCRIPTION}`,
  pathId: 'The id of the source (`dc_…`).',
  parameters: publishParameters,
  schema: publicationSchema,
  runIdOf: (publication) => publication.trace_id,
  handle: (request) => publishEvents(request, request.id),
});

type PublishRequest = EndpointRequest<typeof publishParameters>;

async function publishEvents({ engine, who, input, caller, showRateLimit }: PublishRequest, sourceId?: string) {
  const publication = await engine.publisher.publish(who, eventsOf(input), sourceId, caller);
  if (publication.rateLimit !== undefined) showRateLimit?.(publication.rateLimit);
  return presentPublication(publication);
}

function eventsOf({ events, ...one }: z.output<typeof publishParameters>): NewEvent[] {
  if (events === undefined) return [eventOf(one, '')];
  const [name] = Object.entries(one).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined) throw invalid(name, 'belongs to one event: a batch has no parameters beside it');
  return events.map((event, index) => eventOf(event, `events.${index}.`));
}

function eventOf({ id, event_name, type, data, summary, timestamp }: EventInput, path: string): NewEvent {
  if (data === undefined) throw invalid(`${path}data`, 'is required');
  if (event_name !== undefined && type !== undefined && event_name !== type)
    throw invalid(`${path}type`, 'is another name for event_name, and has another value: give one of them');
  const name = event_name ?? type;
  return { data: JSON.stringify(data), ...given({ id, name, summary, ts: timestamp?.getTime() }) };
}

function invalid(path: string, message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `Invalid parameters: ${path} ${message}`, {
    fields: [{ path, message }],
  });
}
