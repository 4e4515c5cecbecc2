import { z } from '@hono/zod-openapi';
import { KEY_SCOPES, LIMITS } from '@headwater/shared';
import type { NewApiKey } from '@headwater/engine';
import { apiKeySchema, newApiKeySchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentApiKey } from '../resources/account.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'API keys';
/** A quarter of a year. */
const MAX_OVERLAP_HOURS = 90 * 24;

const SCOPES =
  'What it may do: `full` everything, `read` every read but secrets, `publish` `POST` of events, `webhooks` webhooks with their subscriptions and deliveries, `deploy` make and change sources, workflows and components.';

/** The parameters of a new key. */
export const keyParameters = z.object({
  name: textParameter('maxNameChars', 1).describe('What it is for, in your words.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .default(['full'])
    .openapi({ description: SCOPES, example: ['read', 'publish'] }),
  expires_at: z
    .int()
    .optional()
    .openapi({ description: 'Epoch seconds from which on it is refused. Default: it does not expire.' }),
  resource: z
    .string()
    .max(LIMITS.maxIdChars)
    .optional()
    .openapi({ description: 'The id of the one source, workflow or webhook that it reaches. Default: all.' }),
});

export function newKeyOf({ name, scopes, expires_at: expiresAt, resource }: z.output<typeof keyParameters>): NewApiKey {
  return {
    name,
    scopes: [...new Set(scopes)],
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt * 1000) }),
    ...(resource === undefined ? {} : { resource }),
  };
}

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
      parameters: keyParameters,
      schema: newApiKeySchema,
      handle: async ({ engine, who, input }) => {
        const made = await engine.accounts.createKey(who, newKeyOf(input));
        return { ...presentApiKey(made.record), api_key: made.apiKey };
      },
    }),
    rotateKey,
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

const rotateKey = itemEndpoint({
  method: 'post',
  path: '/v1/api_keys/{id}/rotate',
  name: 'rotateApiKey',
  tag,
  summary: 'Replace a key by a new one like it; the old one works on for a while',
  description:
    'The new key has the name, scopes, resource and end of the old one, and is shown this once. The old one ends after `overlap_hours`, while programs change over. So rotate the new one the next time: another key made of the old one would end with it.',
  pathId: 'The id of the key (`key_…`).',
  parameters: z.object({
    overlap_hours: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_HOURS)
      .default(24)
      .openapi({ description: 'How long the old key works on. 0: it is refused at once.' }),
  }),
  schema: newApiKeySchema,
  handle: async ({ engine, who, id, input }) => {
    const made = await engine.accounts.rotateKey(who, id, input.overlap_hours);
    return { ...presentApiKey(made.record), api_key: made.apiKey };
  },
});
