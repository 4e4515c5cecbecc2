import { z } from '@hono/zod-openapi';
import type { AccountSettings } from '@headwater/engine';
import { accountSettingsSchema, type Shown } from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';

const path = '/v1/users/me/settings';
const tag = 'Users';

export function accountSettingsEndpoints(): Endpoint[] {
  return [getSettings, changeSettings];
}

const getSettings = itemEndpoint({
  method: 'get',
  path,
  name: 'getAccountSettings',
  tag,
  summary: 'The settings of the account whose key this is',
  description: 'What the account decides for itself. Its limits are set by the operator.',
  parameters: z.object({}),
  schema: accountSettingsSchema,
  handle: async ({ engine, who }) => present(await engine.accounts.settings(who)),
});

const changeSettings = itemEndpoint({
  method: 'put',
  path,
  name: 'changeAccountSettings',
  tag,
  summary: 'Change settings of the account whose key this is',
  description: 'What is not given stays. Holds for what starts from now on, on every node within seconds.',
  parameters: z.object({
    trace_context: z.boolean().optional().describe('Whether traces of callers are taken in and passed on.'),
  }),
  schema: accountSettingsSchema,
  handle: async ({ engine, who, input: { trace_context: traceContext } }) =>
    present(await engine.accounts.changeSettings(who, traceContext === undefined ? {} : { traceContext })),
});

function present({ accountId, traceContext }: AccountSettings): Shown<typeof accountSettingsSchema> {
  return { account_id: accountId, trace_context: traceContext };
}
