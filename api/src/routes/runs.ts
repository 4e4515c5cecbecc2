import { abandonedRunSchema, retriedSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { dateOf, momentParameter } from '../parameters/moment.ts';
import { idParameter, pageParameters } from '../parameters/schemas.ts';
import { presentAbandonedRun } from '../resources/abandoned-run.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Sources';

export function runEndpoints(): Endpoint[] {
  return [listAbandonedRuns, retryRuns, retryRun];
}

const choiceParameters = {
  source_id: idParameter('Only those of this source (`dc_…`).').optional(),
  since_ms: momentParameter('Only those that were abandoned at this time or later.'),
  until_ms: momentParameter('Only those that were abandoned before this time.'),
};

type Choice = z.output<z.ZodObject<typeof choiceParameters>>;

const choiceOf = ({ source_id: sourceId, since_ms: since, until_ms: until }: Choice) =>
  given({ sourceId, since: dateOf(since), until: dateOf(until) });

const listAbandonedRuns = listEndpoint({
  method: 'get',
  path: '/v1/runs',
  name: 'listAbandonedRuns',
  tag,
  summary: 'Runs of sources that were given up, newest first',
  description:
    'The sandbox process of each ended again and again while the run was alone in it. Each is kept with its event, and runs again when it is retried.',
  parameters: z.object({
    ...pageParameters,
    ...choiceParameters,
    status: z.literal('abandoned').optional().openapi({ description: 'The only status that can be listed here.' }),
  }),
  schema: abandonedRunSchema,
  handle: async ({ engine, who, input }) =>
    mapPage(await engine.abandonedRuns.list(who, pageOf(input), choiceOf(input)), presentAbandonedRun),
});

const retryRun = itemEndpoint({
  method: 'post',
  path: '/v1/runs/{id}/retry',
  name: 'retryRun',
  tag,
  summary: 'Run an abandoned run again',
  description:
    'With its id, event and trace, and the code that its source has now. `count` is 0 where the run is under way again already.',
  pathId: 'The id of the run (`inv_…`).',
  parameters: z.object({}),
  schema: retriedSchema,
  handle: async ({ engine, who, id }) => ({ count: await engine.abandonedRuns.retry(who, id) }),
});

const retryRuns = itemEndpoint({
  method: 'post',
  path: '/v1/runs/retry',
  name: 'retryRuns',
  tag,
  summary: 'Run abandoned runs again',
  description:
    'All of the account, of one source, or of a time; oldest first, as many as the queue of the account has room for.',
  parameters: z.object(choiceParameters),
  schema: retriedSchema,
  handle: async ({ engine, who, input }) => ({ count: await engine.abandonedRuns.retryAll(who, choiceOf(input)) }),
});
