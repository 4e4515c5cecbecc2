import type {
  InvitationRecord,
  MemberRecord,
  NewInvitation,
  PasskeyRecord,
  UserSessionRecord,
} from '@headwater/engine';
import type {
  invitationSchema,
  memberSchema,
  newInvitationSchema,
  passkeySchema,
  Shown,
  userSessionSchema,
} from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentMember(member: MemberRecord): Shown<typeof memberSchema> {
  const { id, email, name, role, joinedAt, lastSeenAt } = member;
  return {
    id,
    email,
    name,
    role,
    joined_at: epochSeconds(joinedAt),
    last_seen_at: lastSeenAt === undefined ? null : epochSeconds(lastSeenAt),
  };
}

export function presentInvitation(invitation: InvitationRecord): Shown<typeof invitationSchema> {
  const { id, email, role, invitedBy, createdAt, expiresAt } = invitation;
  return {
    id,
    email,
    role,
    invited_by: invitedBy,
    created_at: epochSeconds(createdAt),
    expires_at: epochSeconds(expiresAt),
  };
}

export function presentNewInvitation(invitation: NewInvitation): Shown<typeof newInvitationSchema> {
  return { ...presentInvitation(invitation), link: invitation.link, mailed: invitation.mailed };
}

export function presentUserSession(
  session: UserSessionRecord,
  currentId: string | undefined,
): Shown<typeof userSessionSchema> {
  return {
    id: session.id,
    is_current: session.id === currentId,
    address: session.address ?? null,
    user_agent: session.userAgent ?? null,
    created_at: epochSeconds(session.createdAt),
    last_used_at: epochSeconds(session.lastUsedAt),
    expires_at: epochSeconds(session.expiresAt),
  };
}

export function presentPasskey(passkey: PasskeyRecord): Shown<typeof passkeySchema> {
  const { id, name, isBackedUp, transports, createdAt, lastUsedAt } = passkey;
  return {
    id,
    name,
    is_backed_up: isBackedUp,
    transports,
    created_at: epochSeconds(createdAt),
    last_used_at: lastUsedAt === undefined ? null : epochSeconds(lastUsedAt),
  };
}
