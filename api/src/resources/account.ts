import { z } from '@hono/zod-openapi';
import { KEY_SCOPES } from '@headwater/shared';
import type { AccountSummary, ApiKeyRecord, UserRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const newAccountSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    user_id: z.string().openapi({ description: 'The first user of the account.' }),
    api_key: z.string().openapi({ description: 'Shown this once; only its hash is kept.' }),
  })
  .openapi('NewAccount');

export const accountEmailSchema = z
  .object({
    id: z.string().describe('The id of the account.'),
    name: z.string().describe('Its name.'),
    email: z.string().nullable().describe('The address of its user. Null: none.'),
  })
  .openapi('AccountEmail');

export const accountSummarySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    sources: z.int().openapi({ description: 'How many are deployed.' }),
    created_at: secondsField('When it was made.'),
  })
  .openapi('Account');

export function presentAccountSummary(account: AccountSummary): z.output<typeof accountSummarySchema> {
  const { id, name, sources, createdAt } = account;
  return { id, name, sources, created_at: epochSeconds(createdAt) };
}

const quotaSchema = z.object({
  used: z.int().describe('How many there are.'),
  limit: z.int().nullable().openapi({ description: 'How many there may be. null: no limit.' }),
});

export const userSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the user.', example: 'u_1vZ8kQ0aB3xYpL9mWc2T' }),
    username: z.string().describe('The name of the user.'),
    email: z.string().nullable().describe('The address that `$.send.email` writes to. Null: none is set.'),
    quotas: z
      .object({
        sources: quotaSchema.describe('Of sources.'),
        workflows: quotaSchema.describe('Of workflows.'),
        webhooks: quotaSchema.describe('Of webhooks.'),
        subscriptions: quotaSchema.describe('Of subscriptions.'),
      })
      .describe('How many resources there are, and how many there may be.'),
    orgs: z
      .array(z.object({ id: z.string().describe('The id of the account.'), name: z.string().describe('Its name.') }))
      .openapi({ description: 'The accounts of this user.' }),
  })
  .openapi('User');

export function presentUser(user: UserRecord): z.output<typeof userSchema> {
  const { usage, limits } = user;
  return {
    id: user.id,
    username: user.username,
    email: user.email ?? null,
    quotas: {
      sources: { used: usage.sources, limit: limits.maxSources },
      workflows: { used: usage.workflows, limit: limits.maxWorkflows },
      webhooks: { used: usage.webhooks, limit: limits.maxWebhooks },
      subscriptions: { used: usage.subscriptions, limit: limits.maxSubscriptions },
    },
    orgs: [{ id: user.account.id, name: user.account.name }],
  };
}

export const apiKeySchema = z
  .object({
    id: z
      .string()
      .openapi({ description: 'The id of the key, which is no secret.', example: 'key_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    hint: z.string().openapi({ description: 'The last characters of the key.' }),
    scopes: z.array(z.enum(KEY_SCOPES)).openapi({ description: 'What it may do.' }),
    created_at: secondsField('When it was made.'),
    expires_at: secondsField('From when on it is refused; null: it does not expire.').nullable(),
    revoked_at: secondsField('When it was revoked; null while it works.').nullable(),
  })
  .openapi('ApiKey');

export const newApiKeySchema = apiKeySchema
  .extend({ api_key: z.string().openapi({ description: 'Shown this once; only its hash is kept.' }) })
  .openapi('NewApiKey');

export function presentApiKey(key: ApiKeyRecord): z.output<typeof apiKeySchema> {
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    created_at: epochSeconds(key.createdAt),
    expires_at: key.expiresAt === undefined ? null : epochSeconds(key.expiresAt),
    revoked_at: key.revokedAt === undefined ? null : epochSeconds(key.revokedAt),
  };
}
