import { z } from '@hono/zod-openapi';
import type { Engine, PageRequest, Principal } from '@headwater/engine';
import { LIMITS, notFound } from '@headwater/shared';
import {
  checkedAccountSchema,
  connectedAccountSchema,
  deletedAccountSchema,
  startedFlowSchema,
} from '@headwater/shared/contract';
import { type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { requireFull } from '../key-scope.ts';
import { given, pageOf } from '../parameters/given.ts';
import { jsonObjectParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentCheck, presentConnectedAccount, presentDeleted } from '../resources/connected-account.ts';
import { epochSeconds } from '../resources/time.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Connected accounts';
const pathId = 'The id of the connected account (`apn_…`).';
const MAX_SCOPES = 100;

export function connectedAccountEndpoints(): Endpoint[] {
  return [
    createAccount,
    startFlow,
    ...places.map(listAt),
    ...prefixes.flatMap((prefix) => [getAt(prefix), deleteAt(prefix)]),
    updateAccount,
    checkAccount,
  ];
}

const appParameter = () =>
  textParameter('maxNameChars', 1).openapi({ description: 'The slug of an app, or its id.', example: 'github' });
const nameParameter = () => textParameter('maxNameChars').openapi({ description: 'For your own reference.' });

const createAccount = itemEndpoint({
  method: 'post',
  path: '/v1/connected_accounts',
  name: 'createConnectedAccount',
  takesTurn: false,
  tag,
  summary: 'Connect an account of an app with keys',
  description: 'OAuth apps are connected by a flow: `POST /v1/connected_accounts/oauth/start`.',
  example: { app: 'stripe', name: 'Test mode', credentials: { api_key: 'sk_test_0123456789' } },
  parameters: z.object({
    app: appParameter(),
    name: nameParameter().optional(),
    credentials: jsonObjectParameter().openapi({ description: 'A value for each of the app’s `fields`.' }),
  }),
  schema: connectedAccountSchema,
  handle: async ({ engine, who, input }) =>
    presentConnectedAccount(await engine.connectedAccounts.create(who, given(input))),
});

const startFlow = itemEndpoint({
  method: 'post',
  path: '/v1/connected_accounts/oauth/start',
  name: 'startOAuthFlow',
  takesTurn: false,
  tag,
  summary: 'Begin to connect an account of an OAuth app',
  description: `Open \`authorize_url\` in the browser of the person who owns the account. The provider sends it back to \`/oauth/callback\` of this server, which makes the connected account and then goes to \`redirect\` with \`app\`, and \`connected_account_id\` or \`error\`. A flow ends after ${LIMITS.oauthStateSeconds} seconds, and after its first callback.`,
  parameters: z.object({
    app: appParameter(),
    name: nameParameter().optional(),
    scopes: z.array(textParameter('maxNameChars', 1)).max(MAX_SCOPES).optional().openapi({
      description: 'Instead of those of the app.',
    }),
    redirect: textParameter('maxUrlChars', 1).optional().openapi({
      description:
        'Where the browser goes in the end: a path of this server, loopback, or an origin that the operator allows. Without it a page says how it went.',
    }),
    fields: jsonObjectParameter().optional().openapi({ description: 'A value for each of the app’s `fields`.' }),
    connected_account_id: textParameter('maxIdChars', 1).optional().openapi({
      description: 'Connects this account again instead of making another one.',
    }),
  }),
  schema: startedFlowSchema,
  handle: async ({ engine, who, input }) => {
    const { app, name, scopes, redirect, fields, connected_account_id: connectedAccountId } = input;
    const start = given({ app, name, scopes, redirect, fields, connectedAccountId });
    const { authorizeUrl, expiresAt } = await engine.connectedAccounts.startOAuth(who, start);
    return { authorize_url: authorizeUrl, expires_at: epochSeconds(expiresAt) };
  },
});

interface Place {
  path: string;
  suffix: string;
  what?: string;
}

/** `/accounts` without an id is the operator's. */
const places: readonly Place[] = [
  { path: '/v1/connected_accounts', suffix: '' },
  { path: '/v1/users/me/accounts', suffix: 'OfUser' },
  { path: '/v1/workspaces/{id}/accounts', suffix: 'OfWorkspace', what: 'workspace' },
  { path: '/v1/orgs/{id}/accounts', suffix: 'OfOrg', what: 'org' },
];

function listAt({ path, suffix, what }: Place): Endpoint {
  return listEndpoint({
    method: 'get',
    path,
    name: `listConnectedAccounts${suffix}`,
    tag,
    summary: 'The connected accounts, newest first',
    description: 'Without credentials. The same list is at several paths.',
    ...(what === undefined ? {} : { pathId: 'The id of the account (`o_…`), which is the one of the key.' }),
    parameters: z.object({
      app: appParameter().optional(),
      query: appParameter()
        .optional()
        .openapi({ description: 'An app, or a part of the slug or the name of several.' }),
      ...pageParameters,
    }),
    schema: connectedAccountSchema,
    handle: async ({ engine, who, id, input }) => {
      if (what !== undefined && id !== who.accountId) throw notFound(what, id);
      return listOf(engine, who, { ...pageOf(input), ...given({ app: input.app, query: input.query }) });
    },
  });
}

async function listOf(engine: Engine, who: Principal, request: PageRequest & { app?: string; query?: string }) {
  return mapPage(await engine.connectedAccounts.list(who, request), (account) => presentConnectedAccount(account));
}

interface Prefix {
  path: string;
  suffix: string;
}

const prefixes: readonly Prefix[] = [
  { path: '/v1/connected_accounts/{id}', suffix: '' },
  { path: '/v1/accounts/{id}', suffix: 'ByAccountsPath' },
];

function getAt({ path, suffix }: Prefix): Endpoint {
  return itemEndpoint({
    method: 'get',
    path,
    name: `getConnectedAccount${suffix}`,
    takesTurn: false,
    tag,
    summary: 'A connected account',
    description:
      'With `include_credentials` also what components see as `$auth`; that takes a key with the scope `full`.',
    pathId,
    parameters: z.object({
      include_credentials: z.boolean().default(false).openapi({
        description: 'Adds `credentials`, with an access token that is good now.',
      }),
    }),
    schema: connectedAccountSchema,
    handle: async ({ engine, who, id, input }) => {
      const { connectedAccounts } = engine;
      if (input.include_credentials) requireFull(who);
      if (!input.include_credentials) return presentConnectedAccount(await connectedAccounts.get(who, id));
      const { account, credentials } = await connectedAccounts.getWithCredentials(who, id);
      return presentConnectedAccount(account, credentials);
    },
  });
}

function deleteAt({ path, suffix }: Prefix): Endpoint {
  return itemEndpoint({
    method: 'delete',
    path,
    name: `deleteConnectedAccount${suffix}`,
    takesTurn: false,
    tag,
    summary: 'Delete a connected account, and end its tokens at the provider',
    description: 'The account is deleted whatever the provider answers; `revocation` says what became of its tokens.',
    pathId,
    parameters: z.object({}),
    schema: deletedAccountSchema,
    handle: async ({ engine, who, id }) => presentDeleted(await engine.connectedAccounts.delete(who, id)),
  });
}

const updateAccount = itemEndpoint({
  method: 'put',
  path: '/v1/connected_accounts/{id}',
  name: 'updateConnectedAccount',
  takesTurn: false,
  tag,
  summary: 'Rename a connected account, or give it other keys',
  description: 'What is not given stays. `credentials` are for apps whose users fill in keys.',
  pathId,
  parameters: z.object({
    name: nameParameter().optional(),
    credentials: jsonObjectParameter().optional().describe('Values that replace those of the app’s `fields`.'),
  }),
  schema: connectedAccountSchema,
  handle: async ({ engine, who, id, input }) =>
    presentConnectedAccount(
      await engine.connectedAccounts.update(who, id, given({ name: input.name, credentials: input.credentials })),
    ),
});

const checkAccount = itemEndpoint({
  method: 'post',
  path: '/v1/connected_accounts/{id}/check',
  name: 'checkConnectedAccount',
  takesTurn: false,
  tag,
  summary: 'Ask the provider whether it still accepts the credentials',
  description: 'A GET that the app defines, or a refresh of its token. What comes of it is stored with the account.',
  pathId,
  parameters: z.object({}),
  schema: checkedAccountSchema,
  handle: async ({ engine, who, id }) => presentCheck(await engine.connectedAccounts.check(who, id)),
});
