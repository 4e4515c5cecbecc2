import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { eventSummarySchema } from '@headwater/shared/contract';
import type { ExportedList } from '../export-lines.ts';
import { emptyEndpoint, type Endpoint, listEndpoint } from '../endpoint.ts';
import { filterOfText, filterTextParameter } from '../parameters/filter.ts';
import { given, pageOf } from '../parameters/given.ts';
import { timeParameter } from '../parameters/moment.ts';
import { countParameter, idParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { type EmitterRoute, SOURCE_ROUTE, WORKFLOW_ROUTE } from '../resources/emitter-route.ts';
import { presentEvent, presentLogLine } from '../resources/event.ts';
import { EXPORT, mapPage, pageWithin } from '../resources/page.ts';

const tag = 'Events';

function eventIdParameter(description: string) {
  return z
    .string()
    .regex(/^(\d{1,15}-\d{1,9})?$/, 'must be an event id such as 1763640000123-0')
    .optional()
    .openapi({ description });
}

const limitParameter = countParameter('recentEvents').default(LIMITS.defaultPageSize).describe('How many at most.');

const recentParameters = {
  ...pageParameters,
  limit: limitParameter,
  expand: z
    .string()
    .optional()
    .openapi({
      description: `\`event\`: the whole data of the events, up to ${LIMITS.maxSummariesBytes} bytes together.`,
      example: 'event',
    }),
};

const channelParameter = textParameter('maxChannelChars').optional().openapi({
  description:
    'Only events of this channel; empty: of the default one. Absent: of all channels but the built-in ones (`$errors`, `$logs`).',
});

const isExpanded = (expand: string | undefined) => expand?.split(',').includes('event') ?? false;

export function eventEndpoints(): Endpoint[] {
  return [searchEvents, ...endpointsOf(SOURCE_ROUTE, ''), ...endpointsOf(WORKFLOW_ROUTE, 'Workflow')];
}

type Shown = z.output<typeof eventSummarySchema>;

/** With whole data. */
const EXPORTED_EVENTS: ExportedList = {
  parameters: { expand: 'event' },
  cursorOf: (record) => (record as Shown).metadata.emit_id,
  isCut: (record) => (record as Shown).event_truncated,
};

const searchEvents = listEndpoint({
  method: 'get',
  path: '/v1/events',
  name: 'searchEvents',
  tag,
  summary: 'Search the events of all sources and workflows, newest first',
  description: `A page looks through ${LIMITS.maxScannedEvents} events, and with \`text\` or \`filter\` through ${LIMITS.maxSearchedBytes} bytes of their data: it may have fewer than were asked for, or none, while \`end_cursor\` leads on to older ones. \`page_info.scanned_until\` then says how far back it has looked, in epoch milliseconds. \`total_count\` is what the page has. ${EXPORT} \`after\` goes on behind an event by its \`metadata.emit_id\`.`,
  parameters: z.object({
    ...recentParameters,
    emitter_id: idParameter('Only those of this source or workflow.').optional(),
    event_name: channelParameter,
    id: textParameter('maxEventIdChars').optional().openapi({
      description:
        'The id of an event, its `metadata.emit_id`, or the id that the component gave; of whatever channel, where none is given.',
    }),
    text: textParameter('maxSearchChars').optional().openapi({
      description: 'Only those that have this text in the JSON of their data or in their summary, letter by letter.',
    }),
    filter: filterTextParameter,
    since: timeParameter('Only those that were stored at this time or later.'),
    until: timeParameter('Only those that were stored before this time.'),
  }),
  schema: eventSummarySchema,
  exported: EXPORTED_EVENTS,
  handle: async ({ engine, who, input }) => {
    const { emitter_id: emitterId, event_name: channel, id, text, since, until } = input;
    const filter = filterOfText(input.filter);
    const search = given({ emitterId, channel, id: id || undefined, text: text || undefined, filter, since, until });
    const request = { ...pageOf(input), expand: isExpanded(input.expand), ...search };
    return mapPage(await engine.events.search(who, request), presentEvent);
  },
});

/** `named`: goes into the names of the operations. */
function endpointsOf(emitter: EmitterRoute, named: string): Endpoint[] {
  return [recentEvents, recentErrors, recentLogs, history, deleteEvents].map((make) => make(emitter, named));
}

const recentEvents = ({ path, noun, pathId, checkId }: EmitterRoute, named: string) =>
  listEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/event_summaries`,
    name: `list${named}Events`,
    tag,
    summary: `The newest events of a ${noun}, newest first`,
    description: `At most the last ${LIMITS.recentEvents}; \`GET /v1/${path}/{id}/events\` has all that are kept.`,
    pathId,
    parameters: z.object({ ...recentParameters, event_name: channelParameter }),
    schema: eventSummarySchema,
    handle: async ({ engine, who, id, input }) => {
      checkId(id);
      const request = { ...pageOf(input), expand: isExpanded(input.expand), ...given({ channel: input.event_name }) };
      return mapPage(await engine.events.recent(who, id, request), presentEvent);
    },
  });

const recentErrors = ({ path, noun, pathId, checkId }: EmitterRoute, named: string) =>
  listEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/$errors/event_summaries`,
    name: `list${named}Errors`,
    tag,
    summary: `The newest events of the channel $errors of a ${noun}, newest first`,
    description: 'One for each run that failed: `{ error, original_event, original_context }`.',
    pathId,
    parameters: z.object(recentParameters),
    schema: eventSummarySchema,
    handle: async ({ engine, who, id, input }) => {
      checkId(id);
      const request = { ...pageOf(input), expand: isExpanded(input.expand), channel: '$errors' };
      return mapPage(await engine.events.recent(who, id, request), presentEvent);
    },
  });

const recentLogs = ({ path, noun, pathId, checkId }: EmitterRoute, named: string) =>
  listEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/$logs/event_summaries`,
    name: `list${named}Logs`,
    tag,
    summary: `The newest lines that runs of a ${noun} logged, newest first`,
    description:
      'As `{ level, message, ts, run }`, made from the records of the runs: they are here whether anybody is subscribed to `$logs` or not.',
    pathId,
    // `expand` as of the other event_summaries: clients read them alike.
    parameters: z.object(recentParameters),
    schema: eventSummarySchema,
    handle: async ({ engine, who, id, input, count }) => {
      checkId(id);
      const { lines, readChars } = await engine.events.logLines(who, id, LIMITS.recentEvents);
      count(readChars);
      const page = pageWithin(lines, (line) => line.id, pageOf(input));
      // These are counted where they are answered, or left out.
      count(-page.items.reduce((chars, { message }) => chars + message.length, 0));
      return mapPage(page, (line) => presentLogLine(id, line));
    },
  });

const history = ({ path, noun, pathId, checkId }: EmitterRoute, named: string) =>
  listEndpoint({
    method: 'get',
    path: `/v1/${path}/{id}/events`,
    name: `list${named}EventHistory`,
    tag,
    summary: `All events of a ${noun} that are kept, newest first, in pages`,
    description: `Cursors are event ids: \`after\` goes on to older events, \`before=<the last id seen>\` answers what came next. \`total_count\` is at most ${LIMITS.maxCountedEvents}. Of the default channel, and of all channels together, a page looks through ${LIMITS.maxScannedEvents} events: it may have fewer than were asked for, or none, while \`end_cursor\` leads on, and \`total_count\` is of the newest ones. Lines of \`$logs\` are here only from times when a listener was subscribed to them.`,
    pathId,
    parameters: z.object({
      ...pageParameters,
      expand: recentParameters.expand,
      event_name: channelParameter,
      start_id: eventIdParameter('The oldest event to show.'),
      end_id: eventIdParameter('The newest event to show.'),
    }),
    schema: eventSummarySchema,
    handle: async ({ engine, who, id, input }) => {
      checkId(id);
      const range = given({ channel: input.event_name, startId: input.start_id, endId: input.end_id });
      const request = { ...pageOf(input), expand: isExpanded(input.expand), ...range };
      return mapPage(await engine.events.history(who, id, request), presentEvent);
    },
  });

const deleteEvents = ({ path, noun, pathId, checkId }: EmitterRoute, named: string) =>
  emptyEndpoint({
    method: 'delete',
    path: `/v1/${path}/{id}/events`,
    name: `delete${named}Events`,
    // One after the other, for as long as it takes.
    takesTurn: false,
    tag,
    summary: `Delete events of a ${noun}`,
    description: 'Both ends are included; without one it is open, without both all events go.',
    pathId,
    parameters: z.object({
      start_id: eventIdParameter('The first event to delete.'),
      end_id: eventIdParameter('The last event to delete.'),
    }),
    status: 202,
    handle: async ({ engine, who, id, input }) => {
      checkId(id);
      await engine.events.delete(who, id, given({ startId: input.start_id, endId: input.end_id }));
    },
  });
