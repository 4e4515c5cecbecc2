import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { EXECUTION_STATUSES, executionSchema } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { choicesParameter } from '../parameters/choices.ts';
import { given, pageOf } from '../parameters/given.ts';
import { dateOf, momentParameter } from '../parameters/moment.ts';
import { pageParameters } from '../parameters/schemas.ts';
import { presentExecution } from '../resources/execution.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Executions';

export function executionEndpoints(): Endpoint[] {
  return [listExecutions, getExecution];
}

const listExecutions = listEndpoint({
  method: 'get',
  path: '/v1/workflows/{id}/executions',
  name: 'listExecutions',
  tag,
  summary: 'Executions of a workflow, newest first',
  description: `Those that are queued, run or wait, and those that have ended and are kept. Events, and what steps returned, exported and logged, are shown up to ${LIMITS.summaryEventBytes} bytes each. \`total_count\` is at most ${LIMITS.maxCountedEvents}.`,
  pathId: 'The id of the workflow (`p_…`).',
  parameters: z.object({
    ...pageParameters,
    status: choicesParameter(EXECUTION_STATUSES, 'Only those of this status.'),
    since_ms: momentParameter('Only those that were queued at this time or later.'),
    until_ms: momentParameter('Only those that were queued before this time.'),
  }),
  schema: executionSchema,
  handle: async ({ engine, who, id, input }) => {
    const choice = given({ statuses: input.status, since: dateOf(input.since_ms), until: dateOf(input.until_ms) });
    const page = await engine.executions.list(who, id, { ...pageOf(input), ...choice });
    return mapPage(page, presentExecution);
  },
});

const getExecution = itemEndpoint({
  method: 'get',
  path: '/v1/executions/{id}',
  name: 'getExecution',
  tag,
  summary: 'An execution with the steps that it has come to',
  description: `Steps appear as they end. JSON longer than ${LIMITS.shownStepBytes} bytes is cut, and marked, unless it is expanded.`,
  pathId: 'The id of the execution (`exec_…`).',
  parameters: z.object({
    expand: z.string().optional().openapi({
      description: '`exports`: the event, what steps returned and what they exported are whole.',
      example: 'exports',
    }),
  }),
  schema: executionSchema,
  handle: async ({ engine, who, id, input }) => {
    const expand = input.expand?.split(',').includes('exports') ?? false;
    return presentExecution(await engine.executions.get(who, id, { expand }));
  },
});
