import { z } from '@hono/zod-openapi';
import type { CheckOutcome, ConnectedAccountRecord, DeletedAccount } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const connectedAccountSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the connected account.', example: 'apn_1vZ8kQ0aB3xYpL9mWc2T' }),
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
    oauth_uid: z.string().nullable().openapi({ description: 'The user’s id at the provider, where it is known.' }),
    scopes: z.array(z.string()).describe('The scopes that the provider granted.'),
    healthy: z.boolean().openapi({ description: 'The provider accepts it, as far as is known.' }),
    dead: z.boolean().openapi({ description: 'It has to be connected again.' }),
    error: z.string().nullable().openapi({ description: 'Why it is dead.' }),
    last_checked_at: secondsField('When the provider was asked last; null: never.').nullable(),
    expires_at: secondsField('When the access token ends; a new one is fetched before.').nullable(),
    created_at: secondsField('When it was connected.'),
    updated_at: secondsField('When its name or credentials last changed.'),
    credentials: z.record(z.string(), z.unknown()).optional().openapi({
      description: '`$auth` as components see it; with `include_credentials` alone.',
    }),
  })
  .openapi('ConnectedAccount');

export function presentConnectedAccount(
  account: ConnectedAccountRecord,
  credentials?: Record<string, unknown>,
): z.output<typeof connectedAccountSchema> {
  const { app } = account;
  return {
    id: account.id,
    user_id: account.userId,
    name: account.name ?? null,
    app: { id: app.id, name_slug: app.slug, name: app.name, auth_type: app.authType },
    oauth_uid: account.uid ?? null,
    scopes: account.scopes,
    healthy: account.state === 'healthy',
    dead: account.state === 'dead',
    error: account.reason ?? null,
    last_checked_at: account.checkedAt === undefined ? null : epochSeconds(account.checkedAt),
    expires_at: account.expiresAt === undefined ? null : epochSeconds(account.expiresAt),
    created_at: epochSeconds(account.createdAt),
    updated_at: epochSeconds(account.updatedAt),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

export const checkedAccountSchema = connectedAccountSchema
  .extend({
    check: z
      .object({
        conclusive: z.boolean().openapi({ description: 'false: the answer says nothing about the credentials.' }),
        detail: z.string().describe('What the provider answered, in words.'),
      })
      .describe('What the check came to.'),
  })
  .openapi('CheckedAccount');

export function presentCheck(outcome: CheckOutcome): z.output<typeof checkedAccountSchema> {
  const { account, conclusive, detail } = outcome;
  return { ...presentConnectedAccount(account), check: { conclusive, detail } };
}

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
  .openapi('DeletedAccount');

export function presentDeleted({ id, revocation }: DeletedAccount): z.output<typeof deletedAccountSchema> {
  return { id, revocation };
}

export const startedFlowSchema = z
  .object({
    authorize_url: z.string().openapi({ description: 'For the browser of the person who owns the account.' }),
    expires_at: secondsField('Until when the flow has to be finished.'),
  })
  .openapi('StartedFlow');
