import { z } from '@hono/zod-openapi';
import { KEY_SCOPES } from '@headwater/shared';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { apiKeySchema, newApiKeySchema, presentApiKey } from '../resources/account.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'API keys';

const SCOPES =
  'What it may do: `full` everything, `read` every read but secrets, `publish` `POST` of events, `webhooks` webhooks with their subscriptions and deliveries.';

export function apiKeyEndpoints(): Endpoint[] {
  return [
    listEndpoint({
      method: 'get',
      path: '/v1/api_keys',
      name: 'listApiKeys',
      tag,
      summary: 'The keys of the account, newest first, revoked ones too, without the keys themselves',
      description: 'A key itself is shown when it is made, and never again.',
      parameters: z.object(pageParameters),
      schema: apiKeySchema,
      handle: async ({ engine, who, input }) =>
        mapPage(await engine.accounts.listKeys(who, pageOf(input)), presentApiKey),
    }),
    itemEndpoint({
      method: 'post',
      path: '/v1/api_keys',
      name: 'createApiKey',
      tag,
      summary: 'Make another key',
      description: 'The answer has the key itself, this once. It takes a key with the scope `full`.',
      parameters: z.object({
        name: textParameter('maxNameChars', 1).describe('What it is for.'),
        scopes: z
          .array(z.enum(KEY_SCOPES))
          .default(['full'])
          .openapi({ description: SCOPES, example: ['read', 'publish'] }),
        expires_at: z
          .int()
          .optional()
          .openapi({ description: 'Epoch seconds from which on it is refused. Default: it does not expire.' }),
      }),
      schema: newApiKeySchema,
      handle: async ({ engine, who, input }) => {
        const made = await engine.accounts.createKey(who, {
          name: input.name,
          scopes: [...new Set(input.scopes)],
          ...(input.expires_at === undefined ? {} : { expiresAt: new Date(input.expires_at * 1000) }),
        });
        return { ...presentApiKey(made.record), api_key: made.apiKey };
      },
    }),
    emptyEndpoint({
      method: 'delete',
      path: '/v1/api_keys/{id}',
      name: 'revokeApiKey',
      tag,
      summary: 'Revoke a key',
      description:
        'Requests with the key are refused from now on, and its streams end. Answers 409 for the last key that may do everything.',
      pathId: 'The id of the key (`key_…`).',
      parameters: z.object({}),
      status: 204,
      handle: async ({ engine, who, id }) => engine.accounts.revokeKey(who, id),
    }),
  ];
}
