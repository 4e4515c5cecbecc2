import { z } from '@hono/zod-openapi';
import { KEY_SCOPES } from '@headwater/shared';
import type { AccountDeletion, AccountSummary, ApiKeyRecord, UserRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const newAccountSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    user_id: z.string().openapi({ description: 'The first user of the account.' }),
    api_key: z.string().openapi({ description: 'Shown this once; only its hash is kept.' }),
  })
  .openapi('NewAccount');

export const accountSummarySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    email: z.string().nullable().openapi({ description: 'Where `$.send.email` sends to.' }),
    state: z
      .enum(['active', 'suspended', 'deleting'])
      .openapi({ description: 'A suspended account can be read, not changed.' }),
    sources: z.int().openapi({ description: 'How many are deployed.' }),
    workflows: z.int().openapi({ description: 'How many there are.' }),
    webhooks: z.int().openapi({ description: 'How many there are.' }),
    history_bytes: z.int().openapi({ description: 'What `maxHistoryBytes` counts, as of some seconds ago.' }),
    created_at: secondsField('When it was made.'),
    suspended_at: secondsField('When the operator suspended it; null: it is not.').nullable(),
  })
  .openapi('Account');

export function presentAccountSummary(account: AccountSummary): z.output<typeof accountSummarySchema> {
  const { id, name, email, sources, workflows, webhooks, historyBytes, createdAt, suspendedAt, deletedAt } = account;
  return {
    id,
    name,
    email: email ?? null,
    state: deletedAt !== undefined ? 'deleting' : suspendedAt !== undefined ? 'suspended' : 'active',
    sources,
    workflows,
    webhooks,
    history_bytes: historyBytes,
    created_at: epochSeconds(createdAt),
    suspended_at: suspendedAt === undefined ? null : epochSeconds(suspendedAt),
  };
}

export const accountDeletionSchema = z
  .object({
    id: z.string().openapi({ example: 'o_1vZ8kQ0aB3xYpL9mWc2T', description: 'The account.' }),
    name: z.string().openapi({ description: 'What it was called.' }),
    state: z.enum(['deleting', 'deleted']).openapi({ description: '`deleted`: nothing of it is left.' }),
    deleted_rows: z.int().openapi({ description: 'How many rows of the database were deleted so far.' }),
    requested_at: secondsField('When the deletion was asked for first.'),
    ended_at: secondsField('From when on nothing of it is left; null: the deletion goes on.').nullable(),
  })
  .openapi('AccountDeletion');

export function presentAccountDeletion(deletion: AccountDeletion): z.output<typeof accountDeletionSchema> {
  const { id, name, deletedRows, requestedAt, endedAt } = deletion;
  return {
    id,
    name,
    state: endedAt === undefined ? 'deleting' : 'deleted',
    deleted_rows: deletedRows,
    requested_at: epochSeconds(requestedAt),
    ended_at: endedAt === undefined ? null : epochSeconds(endedAt),
  };
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
    resource: z
      .string()
      .nullable()
      .openapi({ description: 'The one source, workflow or webhook that it reaches; null: all.' }),
    last_used_at: secondsField('When it was used last, as of half a minute ago; null: not yet.').nullable(),
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
    resource: key.resource ?? null,
    last_used_at: key.lastUsedAt === undefined ? null : epochSeconds(key.lastUsedAt),
  };
}
