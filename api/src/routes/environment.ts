import { environmentVariableSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { clearableParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentEnvironmentVariable } from '../resources/environment-variable.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Environment variables';
const pathId = 'The name of the variable: letters, digits and `_`, no digit first.';
const path = '/v1/environment_variables/{id}';

export function environmentEndpoints(): Endpoint[] {
  return [listVariables, getVariable, putVariable, deleteVariable];
}

const listVariables = listEndpoint({
  method: 'get',
  path: '/v1/environment_variables',
  name: 'listEnvironmentVariables',
  tag,
  summary: 'The environment variables of the account, by name',
  description: 'Without their values, which are never shown.',
  parameters: z.object(pageParameters),
  schema: environmentVariableSchema,
  handle: async ({ engine, who, input }) =>
    mapPage(await engine.environment.list(who, pageOf(input)), presentEnvironmentVariable),
});

const getVariable = itemEndpoint({
  method: 'get',
  path,
  name: 'getEnvironmentVariable',
  tag,
  summary: 'An environment variable, without its value',
  description: 'Its value is never shown: code reads it as `process.env.NAME`.',
  pathId,
  parameters: z.object({}),
  schema: environmentVariableSchema,
  handle: async ({ engine, who, id }) => presentEnvironmentVariable(await engine.environment.get(who, id)),
});

const putVariable = itemEndpoint({
  method: 'put',
  path,
  name: 'putEnvironmentVariable',
  tag,
  summary: 'Make an environment variable, or give it another value',
  description:
    'Steps of workflows read it in their props as `{{env.NAME}}`, from the next step on that runs; nothing else can. It is stored encrypted and taken out of what steps log, export and send.',
  pathId,
  parameters: z.object({
    value: textParameter('maxEnvironmentValueBytes').describe(
      'What code reads. It is stored encrypted and never shown.',
    ),
    description: clearableParameter('maxDescriptionChars').describe('What it is for.'),
  }),
  schema: environmentVariableSchema,
  handle: async ({ engine, who, id, input: { value, description } }) =>
    presentEnvironmentVariable(await engine.environment.put(who, id, given({ value, description }))),
});

const deleteVariable = emptyEndpoint({
  method: 'delete',
  path,
  name: 'deleteEnvironmentVariable',
  tag,
  summary: 'Delete an environment variable',
  description: 'Refused while the current version of a workflow names it.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.environment.delete(who, id),
});
