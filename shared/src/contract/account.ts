import { z } from 'zod';
import { KEY_SCOPES } from '../key-scopes.ts';
import { ROLES } from '../roles.ts';
import { secondsField } from './fields.ts';
import { usedFields } from './usage.ts';

export const newAccountSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    user_id: z.string().meta({ description: 'The first user of the account.' }),
    api_key: z.string().meta({ description: 'Shown this once; only its hash is kept.' }),
  })
  .meta({ id: 'NewAccount' });

export const accountSummarySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the account.', example: 'o_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    email: z.string().nullable().meta({ description: 'Where `$.send.email` sends to.' }),
    state: z
      .enum(['active', 'suspended', 'deleting'])
      .meta({ description: 'A suspended account can be read, not changed.' }),
    sources: z.int().meta({ description: 'How many are deployed.' }),
    workflows: z.int().meta({ description: 'How many there are.' }),
    webhooks: z.int().meta({ description: 'How many there are.' }),
    history_bytes: z.int().meta({ description: 'What `maxHistoryBytes` counts, as of some seconds ago.' }),
    used_this_month: z.object(usedFields).meta({ description: 'What it used since the month began, in UTC.' }),
    created_at: secondsField('When it was made.'),
    suspended_at: secondsField('When the operator suspended it; null: it is not.').nullable(),
  })
  .meta({ id: 'Account' });

export const accountDeletionSchema = z
  .object({
    id: z.string().meta({ example: 'o_1vZ8kQ0aB3xYpL9mWc2T', description: 'The account.' }),
    name: z.string().meta({ description: 'What it was called.' }),
    state: z.enum(['deleting', 'deleted']).meta({ description: '`deleted`: nothing of it is left.' }),
    deleted_rows: z.int().meta({ description: 'How many rows of the database were deleted so far.' }),
    requested_at: secondsField('When the deletion was asked for first.'),
    ended_at: secondsField('From when on nothing of it is left; null: the deletion goes on.').nullable(),
  })
  .meta({ id: 'AccountDeletion' });

const quotaSchema = z.object({
  used: z.int().describe('How many there are.'),
  limit: z.int().nullable().meta({ description: 'How many there may be. null: no limit.' }),
});

export const userSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the user.', example: 'u_1vZ8kQ0aB3xYpL9mWc2T' }),
    username: z.string().describe('The name of the user.'),
    email: z.string().nullable().describe('The address of the member, or where `$.send.email` writes to. Null: none.'),
    quotas: z
      .object({
        sources: quotaSchema.describe('Of sources.'),
        workflows: quotaSchema.describe('Of workflows.'),
        webhooks: quotaSchema.describe('Of webhooks.'),
        subscriptions: quotaSchema.describe('Of subscriptions.'),
      })
      .describe('How many resources there are, and how many there may be.'),
    orgs: z
      .array(
        z.object({
          id: z.string().describe('The id of the account.'),
          name: z.string().describe('Its name.'),
          role: z.enum(ROLES).nullable().describe('The role of the member there. Null: it is an API key.'),
        }),
      )
      .meta({ description: 'The accounts of this user.' }),
    role: z
      .enum(ROLES)
      .nullable()
      .meta({ description: 'The role of the member who is signed in. Null: it is an API key.' }),
  })
  .meta({ id: 'User' });

export const apiKeySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the key, which is no secret.', example: 'key_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string().describe('Its name.'),
    hint: z.string().meta({ description: 'The last characters of the key.' }),
    scopes: z.array(z.enum(KEY_SCOPES)).meta({ description: 'What it may do.' }),
    created_at: secondsField('When it was made.'),
    expires_at: secondsField('From when on it is refused; null: it does not expire.').nullable(),
    revoked_at: secondsField('When it was revoked; null while it works.').nullable(),
    resource: z
      .string()
      .nullable()
      .meta({ description: 'The one source, workflow or webhook that it reaches; null: all.' }),
    last_used_at: secondsField('When it was used last, as of half a minute ago; null: not yet.').nullable(),
  })
  .meta({ id: 'ApiKey' });

export const newApiKeySchema = apiKeySchema
  .and(z.object({ api_key: z.string().meta({ description: 'Shown this once; only its hash is kept.' }) }))
  .meta({ id: 'NewApiKey' });
