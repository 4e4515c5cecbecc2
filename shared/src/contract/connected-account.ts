import { z } from 'zod';
import { secondsField } from './fields.ts';

export const connectedAccountSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the connected account.', example: 'apn_1vZ8kQ0aB3xYpL9mWc2T' }),
    user_id: z.string().describe('The user who connected it.'),
    name: z.string().nullable().describe('Its name. Null: none.'),
    app: z
      .object({
        id: z.string().describe('The id of the app.'),
        name_slug: z.string().describe('Its name in URLs and props.'),
        name: z.string().describe('Its name.'),
        auth_type: z.enum(['none', 'keys', 'oauth2']).describe('How its users prove who they are.'),
      })
      .describe('The app.'),
    oauth_uid: z.string().nullable().meta({ description: 'The user’s id at the provider, where it is known.' }),
    scopes: z.array(z.string()).describe('The scopes that the provider granted.'),
    healthy: z.boolean().meta({ description: 'The provider accepts it, as far as is known.' }),
    dead: z.boolean().meta({ description: 'It has to be connected again.' }),
    error: z.string().nullable().meta({ description: 'Why it is dead.' }),
    last_checked_at: secondsField('When the provider was asked last; null: never.').nullable(),
    expires_at: secondsField('When the access token ends; a new one is fetched before.').nullable(),
    created_at: secondsField('When it was connected.'),
    updated_at: secondsField('When its name or credentials last changed.'),
    credentials: z.record(z.string(), z.unknown()).optional().meta({
      description: '`$auth` as components see it; with `include_credentials` alone.',
    }),
  })
  .meta({ id: 'ConnectedAccount' });

export const checkedAccountSchema = connectedAccountSchema
  .and(
    z.object({
      check: z
        .object({
          conclusive: z.boolean().meta({ description: 'false: the answer says nothing about the credentials.' }),
          detail: z.string().describe('What the provider answered, in words.'),
        })
        .describe('What the check came to.'),
    }),
  )
  .meta({ id: 'CheckedAccount' });

export const deletedAccountSchema = z
  .object({
    id: z.string().describe('The id of the connected account.'),
    revocation: z
      .object({
        status: z.enum(['revoked', 'failed', 'not-supported']).describe('What the provider did with its tokens.'),
        detail: z.string().describe('The same in words.'),
      })
      .describe('Whether the provider has ended its tokens.'),
  })
  .meta({ id: 'DeletedAccount' });

export const startedFlowSchema = z
  .object({
    authorize_url: z.string().meta({ description: 'For the browser of the person who owns the account.' }),
    expires_at: secondsField('Until when the flow has to be finished.'),
  })
  .meta({ id: 'StartedFlow' });
