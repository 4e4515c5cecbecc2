import { z } from '@hono/zod-openapi';
import type { EventRecord, Stream } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { eventSummarySchema } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint, messagesEndpoint } from '../endpoint.ts';
import type { Message, MessageSource } from '../event-stream.ts';
import { given } from '../parameters/given.ts';
import { countParameter, textParameter } from '../parameters/schemas.ts';
import { recordToJson } from '../raw-json.ts';
import { EMITTERS, type EmitterRoute } from '../resources/emitter-route.ts';
import { presentEvent, presentLogLine } from '../resources/event.ts';
import { STREAM_TOKEN } from '../stream-token.ts';

const tag = 'Streams';

const ABOUT = `Server-sent events, as \`EventSource\` reads them. On connecting, the last ${LIMITS.recentEvents} are sent, oldest first; with \`Last-Event-ID\` (or \`last_event_id\`) everything that is kept after that message, nothing twice. A comment every ${LIMITS.streamHeartbeatMs / 1000} s says that the stream lives.`;

const lastEventId = textParameter('maxIdChars').optional().openapi({
  description: 'The id of the last message that was seen, for clients that cannot send the header; the header wins.',
});

export function streamEndpoints(): Endpoint[] {
  return [makeToken, ...EMITTERS.flatMap((emitter) => [eventStreamOf(emitter), logStreamOf(emitter)])];
}

const tokenSchema = z
  .object({
    token: z.string().openapi({ description: `Goes into the parameter \`${STREAM_TOKEN}\` of a stream.` }),
    expires_at: z.int().openapi({
      description: 'From when on it opens no stream. Open ones go on. Epoch seconds.',
      example: 1_763_640_000,
    }),
  })
  .openapi('StreamToken');

const makeToken = itemEndpoint({
  method: 'post',
  path: '/v1/streams/token',
  name: 'createStreamToken',
  tag,
  summary: "Make a token for a browser's EventSource, which cannot send a key",
  description:
    'It opens streams of events and log lines and nothing else, those that the key itself may read, until it expires or the key is revoked. No log has it. It takes a key with the scope `full` or `read`.',
  parameters: z.object({
    emitter_id: textParameter('maxIdChars', 1)
      .optional()
      .openapi({ description: 'The source or workflow whose streams it opens. Default: all.' }),
    minutes: countParameter('maxStreamTokenMinutes')
      .default(LIMITS.defaultStreamTokenMinutes)
      .openapi({ description: 'How long it opens streams.' }),
  }),
  schema: tokenSchema,
  handle: ({ engine, apiKey = '', input }) => {
    const expiresAtSeconds = Math.ceil(Date.now() / 1_000) + input.minutes * 60;
    const token = engine.sessions.makeStreamToken(apiKey, {
      expiresAt: new Date(expiresAtSeconds * 1_000),
      ...given({ emitterId: input.emitter_id }),
    });
    return Promise.resolve({ token, expires_at: expiresAtSeconds });
  },
});

function eventStreamOf({ path, noun, pathId, checkId, Noun }: EmitterRoute): Endpoint {
  return messagesEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/sse`,
    name: `stream${Noun}Events`,
    tag,
    takesStreamToken: true,
    summary: `The events of a ${noun} as they come`,
    description: `${ABOUT} The last ones are looked for among the newest ${LIMITS.maxStreamScanEvents} of the ${noun}, whatever their channel. \`id\` is that of the event, \`event\` its channel (none for the default channel), \`data\` as in event_summaries. What a workflow has sent with \`$.send.sse\` has its channel as \`event\` and its payload as \`data\`.`,
    pathId,
    parameters: z.object({
      channel: textParameter('maxChannelChars').optional().openapi({
        description:
          "Only one channel; '' is the default channel, `$errors` and `$logs` are built in. Absent: all but those two.",
      }),
      expand: z.string().optional().openapi({
        description: '`event`: data is whole; else it is cut as in event_summaries.',
        example: 'event',
      }),
      last_event_id: lastEventId,
    }),
    schema: eventSummarySchema,
    open: async ({ engine, who, id, input, lastEventId: sent }) => {
      checkId(id);
      const { channel } = input;
      const after = sent ?? input.last_event_id;
      const expand = input.expand?.split(',').includes('event') ?? false;
      const stream = await engine.streams.events(who, id, { ...given({ channel, after }), expand });
      return messagesOf(stream, (event) => eventMessage(event, channel));
    },
  });
}

function logStreamOf({ path, noun, pathId, checkId, Noun }: EmitterRoute): Endpoint {
  return messagesEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/logs`,
    name: `stream${Noun}Logs`,
    tag,
    takesStreamToken: true,
    summary: `What runs of a ${noun} log, as they end`,
    description: `${ABOUT} \`data\` is as in $logs/event_summaries; the error that a run failed with is its last line.`,
    pathId,
    parameters: z.object({ last_event_id: lastEventId }),
    schema: eventSummarySchema,
    open: async ({ engine, who, id, input, lastEventId: sent }) => {
      checkId(id);
      const stream = await engine.streams.logs(who, id, given({ after: sent ?? input.last_event_id }));
      return messagesOf(stream, (line) => ({ id: line.id, data: recordToJson(presentLogLine(id, line)) }));
    },
  });
}

function messagesOf<T>(stream: Stream<T>, messageOf: (item: T) => Message): MessageSource {
  return {
    async next(waitMs) {
      const items = await stream.next(waitMs);
      return items?.map(messageOf);
    },
    close: stream.close,
  };
}

/**
 * Events of `$.send.sse` are delivered as they were sent, unless the client selects the channel
 * `$sse`.
 */
function eventMessage(event: EventRecord, channel: string | undefined): Message {
  const sent = event.channel === SSE_CHANNEL && channel !== SSE_CHANNEL ? readSent(event) : undefined;
  if (sent !== undefined) return { id: event.id, ...nameOf(sent.channel), data: sent.payload };
  return { id: event.id, ...nameOf(event.channel), data: recordToJson(presentEvent(event)) };
}

const SSE_CHANNEL = '$sse';
const SENT = /^\{"channel":("(?:[^"\\]|\\.)*"),"payload":(.*)\}$/s;

const nameOf = (channel: string) => (channel === '' ? {} : { event: channel });

/** Channel and payload that `$.send.sse` got; the payload stays JSON text. */
function readSent({ data, isCut }: EventRecord): { channel: string; payload: string } | undefined {
  const match = isCut === true ? null : SENT.exec(data);
  return match === null ? undefined : { channel: JSON.parse(match[1] ?? '""') as string, payload: match[2] ?? '' };
}
