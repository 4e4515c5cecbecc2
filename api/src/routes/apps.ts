import { z } from '@hono/zod-openapi';
import { appParameters, appSchema, oauthClientSchema } from '@headwater/shared/contract';
import {
  adminEndpoint,
  eitherEndpoint,
  emptyEndpoint,
  type Endpoint,
  itemEndpoint,
  listEndpoint,
} from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { pageParameters, shortListParameters, textParameter } from '../parameters/schemas.ts';
import { appDefinitionOf, presentApp, presentOAuthClient } from '../resources/app.ts';
import { mapPage, pageWithin } from '../resources/page.ts';

const tag = 'Apps';
const pathId = 'The slug of the app, or its id (`app_…`).';
const oauthClientParameters = {
  client_id: textParameter('maxUrlChars', 1).describe('The id of the client at the provider.'),
  client_secret: textParameter('maxUrlChars', 1).optional().openapi({
    description: 'Kept sealed and shown to nobody. Left out for public clients.',
  }),
};

const OPERATOR = 'Takes the key of the operator.';
const EITHER = 'With the key of an account: an app of its own. With that of the operator: one of the catalogue.';

export function appEndpoints(): Endpoint[] {
  return [
    listApps,
    getApp,
    createApp,
    replaceApp,
    deleteApp,
    setInstanceClient,
    deleteInstanceClient,
    listOwnClients,
    setOwnClient,
    deleteOwnClient,
  ];
}

const listApps = listEndpoint({
  method: 'get',
  path: '/v1/apps',
  name: 'listApps',
  tag,
  summary: 'The catalogue of apps and your own, in the order of their slugs',
  description: '`private` says which are yours. An app of your own hides one of the catalogue with the same slug.',
  parameters: z.object({
    q: textParameter('maxNameChars').optional().openapi({ description: 'A part of the slug or the name.' }),
    ...pageParameters,
  }),
  schema: appSchema,
  handle: async ({ engine, who, input }) => {
    const page = await engine.apps.list(who, { ...pageOf(input), ...given({ query: input.q }) });
    return mapPage(page, presentApp);
  },
});

const getApp = itemEndpoint({
  method: 'get',
  path: '/v1/apps/{id}',
  name: 'getApp',
  tag,
  summary: 'An app',
  description: 'With what its users fill in, and how their keys are tested. Secrets of clients are never shown.',
  pathId,
  parameters: z.object({}),
  schema: appSchema,
  handle: async ({ engine, who, id }) => presentApp(await engine.apps.get(who, id)),
});

const createApp = eitherEndpoint({
  method: 'post',
  path: '/v1/apps',
  name: 'createApp',
  tag,
  summary: 'Define an app',
  description: `${EITHER} An app of an account is seen and used by that account alone; its slug must not be one of the catalogue.`,
  parameters: z.object({
    name_slug: textParameter('maxNameChars', 1).describe('As components name it.'),
    ...appParameters,
  }),
  schema: appSchema,
  handle: async ({ engine, who, input }) =>
    presentApp(await engine.apps.create(who, appDefinitionOf(input.name_slug, input))),
});

const replaceApp = eitherEndpoint({
  method: 'put',
  path: '/v1/apps/{id}',
  name: 'replaceApp',
  tag,
  summary: 'Replace an app',
  description: `${EITHER} What is not given is gone; the slug stays. New versions of the server leave an app of the catalogue as it is from then on.`,
  pathId,
  parameters: z.object(appParameters),
  schema: appSchema,
  handle: async ({ engine, who, id, input }) =>
    presentApp(await engine.apps.replace(who, id, appDefinitionOf('', input))),
});

const deleteApp = emptyEndpoint({
  method: 'delete',
  path: '/v1/apps/{id}',
  name: 'deleteApp',
  tag,
  summary: 'Delete an app of your own',
  description: 'Not while accounts are connected to it. Its OAuth client and open flows go with it.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.apps.delete(who, id),
});

const setInstanceClient = adminEndpoint({
  method: 'put',
  path: '/v1/apps/{id}/oauth_client',
  name: 'setInstanceOAuthClient',
  tag,
  summary: 'Set the OAuth client that accounts without one of their own use',
  description: `${OPERATOR} Register \`<public URL>/oauth/callback\` as its redirect URI at the provider.`,
  pathId,
  parameters: z.object(oauthClientParameters),
  schema: oauthClientSchema,
  handle: async ({ engine, id, input }) => presentOAuthClient(await engine.apps.setInstanceClient(id, clientOf(input))),
});

const deleteInstanceClient: Endpoint = {
  ...emptyEndpoint({
    method: 'delete',
    path: '/v1/apps/{id}/oauth_client',
    name: 'deleteInstanceOAuthClient',
    tag,
    summary: 'Delete the OAuth client of the instance',
    description: `${OPERATOR} Accounts that were connected with it get no new tokens.`,
    pathId,
    parameters: z.object({}),
    status: 204,
    handle: async ({ engine, id }) => engine.apps.deleteInstanceClient(id),
  }),
  access: 'admin',
};

const OWN = 'An account of yours is connected with your own client where you have set one, else with the operator’s.';

const listOwnClients = listEndpoint({
  method: 'get',
  path: '/v1/users/me/oauth_clients',
  name: 'listOwnOAuthClients',
  tag,
  summary: 'Your own OAuth clients',
  description: 'Without their secrets. An own client goes before that of the instance.',
  parameters: z.object(shortListParameters),
  schema: oauthClientSchema,
  handle: async ({ engine, who, input }) => {
    const clients = await engine.apps.listOwnClients(who);
    return mapPage(
      pageWithin(clients, (client) => client.app.id, pageOf(input)),
      presentOAuthClient,
    );
  },
});

const setOwnClient = itemEndpoint({
  method: 'put',
  path: '/v1/users/me/oauth_clients/{id}',
  name: 'setOwnOAuthClient',
  tag,
  summary: 'Set your own OAuth client for an app',
  description: `${OWN} Register \`<public URL>/oauth/callback\` as its redirect URI at the provider.`,
  pathId,
  parameters: z.object(oauthClientParameters),
  schema: oauthClientSchema,
  handle: async ({ engine, who, id, input }) =>
    presentOAuthClient(await engine.apps.setOwnClient(who, id, clientOf(input))),
});

const deleteOwnClient = emptyEndpoint({
  method: 'delete',
  path: '/v1/users/me/oauth_clients/{id}',
  name: 'deleteOwnOAuthClient',
  tag,
  summary: 'Delete your own OAuth client for an app',
  description: 'Accounts that were connected with it get no new tokens.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.apps.deleteOwnClient(who, id),
});

function clientOf(input: { client_id: string; client_secret?: string | undefined }) {
  return { clientId: input.client_id, ...given({ clientSecret: input.client_secret }) };
}
