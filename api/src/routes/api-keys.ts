import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { textParameter } from '../parameters/schemas.ts';
import { apiKeySchema, newApiKeySchema, presentApiKey } from '../resources/account.ts';
import { mapPage, wholePage } from '../resources/page.ts';

const tag = 'API keys';

export function apiKeyEndpoints(): Endpoint[] {
  return [
    listEndpoint({
      method: 'get',
      path: '/v1/api_keys',
      name: 'listApiKeys',
      tag,
      summary: 'All keys of the account, without the keys themselves',
      parameters: z.object({}),
      schema: apiKeySchema,
      handle: async ({ engine, who }) => {
        const keys = await engine.accounts.listKeys(who);
        return mapPage(
          wholePage(keys, (key) => key.id),
          presentApiKey,
        );
      },
    }),
    itemEndpoint({
      method: 'post',
      path: '/v1/api_keys',
      name: 'createApiKey',
      tag,
      summary: 'Make another key',
      parameters: z.object({ name: textParameter(LIMITS.maxNameChars, 1) }),
      schema: newApiKeySchema,
      handle: async ({ engine, who, input }) => {
        const made = await engine.accounts.createKey(who, input.name);
        return { ...presentApiKey(made.record), api_key: made.apiKey };
      },
    }),
    emptyEndpoint({
      method: 'delete',
      path: '/v1/api_keys/{id}',
      name: 'revokeApiKey',
      tag,
      summary: 'Revoke a key',
      pathId: 'The id of the key (`key_…`).',
      parameters: z.object({}),
      status: 204,
      handle: async ({ engine, who, id }) => engine.accounts.revokeKey(who, id),
    }),
  ];
}
