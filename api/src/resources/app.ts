import { z } from '@hono/zod-openapi';
import type { AppDefinition, AppField, AppOAuth, AppRecord, AppTest, OAuthClientRecord } from '@headwater/engine';
import type { Shown } from '@headwater/shared/contract';
import { given } from '../parameters/given.ts';
import { textParameter } from '../parameters/schemas.ts';
import { epochSeconds, secondsField } from './time.ts';

const MAX_ENTRIES = 100;

const text = () => textParameter('maxDescriptionChars');
const name = () => textParameter('maxNameChars', 1);
const url = () => textParameter('maxUrlChars', 1);
const textMap = () => z.record(name(), text());

const fieldSchema = z
  .object({
    name: name().openapi({ description: 'A key of `$auth`.', example: 'api_key' }),
    label: name().describe('What a form shows.'),
    description: text().optional().describe('What a form says about it.'),
    secret: z.boolean().optional().openapi({ description: 'Default: true for apps with keys, false for OAuth apps.' }),
    optional: z.boolean().optional().describe('true: it may be left empty.'),
    default: text().optional().describe('What a form begins with.'),
  })
  .openapi('AppField');

const oauthSchema = z
  .object({
    authorize_url: url().describe('Where the browser of the user goes.'),
    token_url: url().describe('Where codes and refresh tokens become access tokens.'),
    revoke_url: url().optional().openapi({ description: 'RFC 7009.' }),
    userinfo_url: url().optional().openapi({ description: 'Asked when an account is connected or checked.' }),
    scopes: z.array(name()).max(MAX_ENTRIES).describe('The scopes that are asked for.'),
    scope_separator: textParameter(1, 1).optional().openapi({ description: 'Default: a space.', example: ',' }),
    scope_parameter: name().optional().openapi({ description: 'Default: `scope`.' }),
    pkce: z.boolean().describe('true: the flow uses PKCE.'),
    token_auth: z.enum(['basic', 'body', 'none']).describe('How the client proves itself to the token URL.'),
    token_body: z
      .enum(['form', 'json'])
      .optional()
      .describe('The form of the body of a request to the token URL. Default: `form`.'),
    token_at: name().optional().openapi({ description: 'The object of the token answer that holds the tokens.' }),
    authorize_parameters: textMap().optional().describe('Further parameters of `authorize_url`.'),
    lifetime_seconds: z.int().min(1).optional().openapi({ description: 'Where the token answer names none.' }),
    rotates_refresh_tokens: z
      .boolean()
      .optional()
      .describe('true: a refresh token is used once, and each answer brings the next.'),
    issuer: url().optional().openapi({ description: 'Answers of another issuer are refused (RFC 9207).' }),
    values: textMap()
      .optional()
      .openapi({
        description: 'Further keys of `$auth` and where they come from.',
        example: { oauth_uid: 'userinfo.id' },
      }),
  })
  .openapi('AppOAuth');

const testSchema = z
  .object({
    url: url().describe('What is asked for. It may hold `{{field}}`.'),
    auth: z
      .discriminatedUnion('type', [
        z.object({
          type: z.literal('bearer').describe('A bearer token.'),
          token: text().describe('The token; it may hold `{{field}}`.'),
        }),
        z.object({
          type: z.literal('basic').describe('Basic authentication.'),
          user: text().describe('The user; it may hold `{{field}}`.'),
          password: text().describe('The password; it may hold `{{field}}`.'),
        }),
        z.object({
          type: z.literal('header').describe('A header.'),
          name: name()
            .regex(/^[\w-]+$/, 'must be a header name')
            .describe('The name of the header.'),
          value: text().describe('Its value; it may hold `{{field}}`.'),
        }),
        z.object({ type: z.literal('none').describe('Nothing.') }),
      ])
      .describe('How the request proves itself.'),
    headers: textMap().optional().describe('Further headers of the request.'),
  })
  .openapi('AppTest');

/** The description of an app, without its slug. The answer of GET may be put back as it is. */
export const appParameters = {
  name: name().describe('The name of the app.'),
  description: text().nullish().describe('What the app is.'),
  docs_url: url().nullish().describe('The page of its documentation.'),
  auth_type: z.enum(['none', 'keys', 'oauth2']).describe('How its users prove who they are.'),
  fields: z.array(fieldSchema).max(MAX_ENTRIES).default([]).describe('What a user fills in to connect.'),
  oauth: oauthSchema.nullish().openapi({ description: 'URLs may hold `{{field}}`.' }),
  test: testSchema.nullish().openapi({ description: 'A GET that succeeds with working keys.' }),
};

const inputSchema = z.object(appParameters);

export function appDefinitionOf(slug: string, input: z.output<typeof inputSchema>): AppDefinition {
  const { auth_type: authType, fields, oauth, test } = input;
  return {
    slug,
    name: input.name,
    authType,
    fields: fields.map((field): AppField => given(field)),
    ...given({ description: input.description ?? undefined, docsUrl: input.docs_url ?? undefined }),
    ...(oauth ? { oauth: oauthOf(oauth) } : {}),
    ...(test ? { test: testOf(test) } : {}),
  };
}

function oauthOf(oauth: Shown<typeof oauthSchema>): AppOAuth {
  return given({
    authorizeUrl: oauth.authorize_url,
    tokenUrl: oauth.token_url,
    revokeUrl: oauth.revoke_url,
    userinfoUrl: oauth.userinfo_url,
    scopes: oauth.scopes,
    scopeSeparator: oauth.scope_separator,
    scopeParameter: oauth.scope_parameter,
    pkce: oauth.pkce,
    tokenAuth: oauth.token_auth,
    tokenBody: oauth.token_body,
    tokenAt: oauth.token_at,
    authorizeParameters: oauth.authorize_parameters,
    lifetimeSeconds: oauth.lifetime_seconds,
    rotatesRefreshTokens: oauth.rotates_refresh_tokens,
    issuer: oauth.issuer,
    values: oauth.values,
  });
}

function testOf({ url: testUrl, auth, headers }: Shown<typeof testSchema>): AppTest {
  return given({ url: testUrl, auth, headers });
}

export const appSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the app.', example: 'app_1vZ8kQ0aB3xYpL9mWc2T' }),
    name_slug: z.string().openapi({ description: 'As components name it.', example: 'github' }),
    ...appParameters,
    description: z.string().nullable().describe('What the app is. Null: nothing is said.'),
    docs_url: z.string().nullable().describe('The page of its documentation. Null: none is known.'),
    oauth: oauthSchema.nullable(),
    test: testSchema.nullable(),
    oauth_client: z.enum(['own', 'instance']).nullable().openapi({
      description: 'Whose OAuth client accounts are connected with; null: there is none yet.',
    }),
    private: z.boolean().openapi({ description: 'true: your own, which no other account sees.' }),
    hides_catalogue: z.boolean().openapi({
      description: 'true: the catalogue has got an app of the same slug since. Your components get yours.',
    }),
    created_at: secondsField('When it was defined.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('App');

export function presentApp({ id, definition, ...app }: AppRecord): Shown<typeof appSchema> {
  const { oauth, test } = definition;
  return {
    id,
    name_slug: definition.slug,
    name: definition.name,
    description: definition.description ?? null,
    docs_url: definition.docsUrl ?? null,
    auth_type: definition.authType,
    fields: definition.fields.map((field) => ({ ...field })),
    oauth: oauth === undefined ? null : presentOAuth(oauth),
    test: test === undefined ? null : { ...test, headers: test.headers && { ...test.headers } },
    oauth_client: app.oauthClient ?? null,
    private: app.accountId !== undefined,
    hides_catalogue: app.hidesCatalogue === true,
    created_at: epochSeconds(app.createdAt),
    updated_at: epochSeconds(app.updatedAt),
  };
}

function presentOAuth(oauth: AppOAuth): Shown<typeof oauthSchema> {
  return {
    authorize_url: oauth.authorizeUrl,
    token_url: oauth.tokenUrl,
    revoke_url: oauth.revokeUrl,
    userinfo_url: oauth.userinfoUrl,
    scopes: [...oauth.scopes],
    scope_separator: oauth.scopeSeparator,
    scope_parameter: oauth.scopeParameter,
    pkce: oauth.pkce,
    token_auth: oauth.tokenAuth,
    token_body: oauth.tokenBody,
    token_at: oauth.tokenAt,
    authorize_parameters: oauth.authorizeParameters && { ...oauth.authorizeParameters },
    lifetime_seconds: oauth.lifetimeSeconds,
    rotates_refresh_tokens: oauth.rotatesRefreshTokens,
    issuer: oauth.issuer,
    values: oauth.values && { ...oauth.values },
  };
}

export const oauthClientParameters = {
  client_id: textParameter('maxUrlChars', 1).describe('The id of the client at the provider.'),
  client_secret: textParameter('maxUrlChars', 1).optional().openapi({
    description: 'Kept sealed and shown to nobody. Left out for public clients.',
  }),
};

export const oauthClientSchema = z
  .object({
    app: z
      .object({
        id: z.string().describe('The id of the app.'),
        name_slug: z.string().describe('Its name in URLs and props.'),
        name: z.string().describe('Its name.'),
      })
      .describe('The app that the client is for.'),
    client_id: z.string().describe('The id of the client at the provider.'),
    has_secret: z.boolean().describe('true: a secret is stored.'),
    updated_at: secondsField('When it was set.'),
  })
  .openapi('OAuthClient');

export function presentOAuthClient(client: OAuthClientRecord): Shown<typeof oauthClientSchema> {
  const { id, slug, name: appName } = client.app;
  return {
    app: { id, name_slug: slug, name: appName },
    client_id: client.clientId,
    has_secret: client.hasSecret,
    updated_at: epochSeconds(client.updatedAt),
  };
}
