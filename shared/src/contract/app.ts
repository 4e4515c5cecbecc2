import { z } from 'zod';
import { secondsField } from './fields.ts';
import type { ReadonlyRecordOf, RecordOf } from './record.ts';
import { textParameter } from './text-parameter.ts';

const MAX_ENTRIES = 100;

const text = () => textParameter('maxDescriptionChars');
const name = () => textParameter('maxNameChars', 1);
const url = () => textParameter('maxUrlChars', 1);
const textMap = () => z.record(name(), text());

const appFieldSchema = z
  .object({
    name: name().meta({ description: 'A key of `$auth`.', example: 'api_key' }),
    label: name().describe('What a form shows.'),
    description: text().optional().describe('What a form says about it.'),
    secret: z.boolean().optional().meta({ description: 'Default: true for apps with keys, false for OAuth apps.' }),
    optional: z.boolean().optional().describe('true: it may be left empty.'),
    default: text().optional().describe('What a form begins with.'),
  })
  .meta({ id: 'AppField' });

/**
 * OAuth 2.0 authorization code. In a host, `{{field}}` stands for one label of it, so that no value
 * of a tenant decides where the client's secret is sent.
 */
export const appOAuthSchema = z
  .object({
    authorize_url: url().describe('Where the browser of the user goes.'),
    token_url: url().describe('Where codes and refresh tokens become access tokens.'),
    revoke_url: url().optional().meta({ description: 'RFC 7009.' }),
    userinfo_url: url().optional().meta({ description: 'Asked when an account is connected or checked.' }),
    scopes: z.array(name()).max(MAX_ENTRIES).describe('The scopes that are asked for.'),
    scope_separator: textParameter(1, 1).optional().meta({ description: 'Default: a space.', example: ',' }),
    scope_parameter: name().optional().meta({ description: 'Default: `scope`.' }),
    pkce: z.boolean().describe('true: the flow uses PKCE.'),
    token_auth: z.enum(['basic', 'body', 'none']).describe('How the client proves itself to the token URL.'),
    token_body: z
      .enum(['form', 'json'])
      .optional()
      .describe('The form of the body of a request to the token URL. Default: `form`.'),
    token_at: name().optional().meta({ description: 'The object of the token answer that holds the tokens.' }),
    authorize_parameters: textMap().optional().describe('Further parameters of `authorize_url`.'),
    lifetime_seconds: z.int().min(1).optional().meta({ description: 'Where the token answer names none.' }),
    rotates_refresh_tokens: z
      .boolean()
      .optional()
      .describe('true: a refresh token is used once, and each answer brings the next.'),
    issuer: url().optional().meta({ description: 'Answers of another issuer are refused (RFC 9207).' }),
    values: textMap()
      .optional()
      .meta({
        description: 'Further keys of `$auth` and where they come from.',
        example: { oauth_uid: 'userinfo.id' },
      }),
  })
  .meta({ id: 'AppOAuth' });

/** A request that changes nothing and succeeds with working keys. */
export const appTestSchema = z
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
  .meta({ id: 'AppTest' });

/** The description of an app, without its slug. The answer of GET may be put back as it is. */
export const appParameters = {
  name: name().describe('The name of the app.'),
  description: text().nullish().describe('What the app is.'),
  docs_url: url().nullish().describe('The page of its documentation.'),
  auth_type: z.enum(['none', 'keys', 'oauth2']).describe('How its users prove who they are.'),
  fields: z.array(appFieldSchema).max(MAX_ENTRIES).default([]).describe('What a user fills in to connect.'),
  oauth: appOAuthSchema.nullish().meta({ description: 'URLs may hold `{{field}}`.' }),
  test: appTestSchema.nullish().meta({ description: 'A GET that succeeds with working keys.' }),
};

export const appDefinitionSchema = z.object(appParameters);

export type AppField = ReadonlyRecordOf<typeof appFieldSchema>;
export type AppOAuth = ReadonlyRecordOf<typeof appOAuthSchema>;
export type AppTest = ReadonlyRecordOf<typeof appTestSchema>;

/** `slug` is what components call it: `{ type: "app", app: "<slug>" }`. */
export type AppDefinition = ReadonlyRecordOf<typeof appDefinitionSchema> & { readonly slug: string };

export const appSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the app.', example: 'app_1vZ8kQ0aB3xYpL9mWc2T' }),
    name_slug: z.string().meta({ description: 'As components name it.', example: 'github' }),
    ...appParameters,
    description: z.string().nullable().describe('What the app is. Null: nothing is said.'),
    docs_url: z.string().nullable().describe('The page of its documentation. Null: none is known.'),
    oauth: appOAuthSchema.nullable(),
    test: appTestSchema.nullable(),
    oauth_client: z.enum(['own', 'instance']).nullable().meta({
      description: 'Whose OAuth client accounts are connected with; null: there is none yet.',
    }),
    private: z.boolean().meta({ description: 'true: your own, which no other account sees.' }),
    hides_catalogue: z.boolean().meta({
      description: 'true: the catalogue has got an app of the same slug since. Your components get yours.',
    }),
    created_at: secondsField('When it was defined.'),
    updated_at: secondsField('When it last changed.'),
  })
  .meta({ id: 'App' });

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
  .meta({ id: 'OAuthClient' });

export type OAuthClientRecord = RecordOf<typeof oauthClientSchema>;
