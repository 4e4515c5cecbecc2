import type { CheckOutcome, ConnectedAccountRecord, DeletedAccount } from '@headwater/engine';
import type {
  checkedAccountSchema,
  connectedAccountSchema,
  deletedAccountSchema,
  Shown,
} from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentConnectedAccount(
  account: ConnectedAccountRecord,
  credentials?: Record<string, unknown>,
): Shown<typeof connectedAccountSchema> {
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

export function presentCheck(outcome: CheckOutcome): Shown<typeof checkedAccountSchema> {
  const { account, conclusive, detail } = outcome;
  return { ...presentConnectedAccount(account), check: { conclusive, detail } };
}

export function presentDeleted({ id, revocation }: DeletedAccount): Shown<typeof deletedAccountSchema> {
  return { id, revocation };
}
