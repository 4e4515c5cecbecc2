import type { AccountDeletion, AccountSummary, ApiKeyRecord, UserRecord } from '@headwater/engine';
import type {
  accountDeletionSchema,
  accountSummarySchema,
  apiKeySchema,
  Shown,
  userSchema,
} from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';
import { presentUse } from './usage.ts';

export function presentAccountSummary(account: AccountSummary): Shown<typeof accountSummarySchema> {
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
    used_this_month: presentUse(account.usedThisMonth),
    created_at: epochSeconds(createdAt),
    suspended_at: suspendedAt === undefined ? null : epochSeconds(suspendedAt),
  };
}

export function presentAccountDeletion(deletion: AccountDeletion): Shown<typeof accountDeletionSchema> {
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

export function presentUser(user: UserRecord): Shown<typeof userSchema> {
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
    orgs: user.memberships ?? [{ id: user.account.id, name: user.account.name, role: null }],
    role: user.memberships?.find(({ id }) => id === user.account.id)?.role ?? null,
  };
}

export function presentApiKey(key: ApiKeyRecord): Shown<typeof apiKeySchema> {
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
