import type { UserSessionRecord } from '@headwater/engine';
import {
  invitationSchema,
  memberSchema,
  newInvitationSchema,
  passkeySchema,
  type Shown,
  userSessionSchema,
} from '@headwater/shared/contract';
import { presenter } from './presenter.ts';

export const presentMember = presenter(memberSchema);
export const presentInvitation = presenter(invitationSchema);
export const presentNewInvitation = presenter(newInvitationSchema);
export const presentPasskey = presenter(passkeySchema);

const presentSession = presenter(userSessionSchema);

export function presentUserSession(
  session: UserSessionRecord,
  currentId: string | undefined,
): Shown<typeof userSessionSchema> {
  return presentSession({ ...session, isCurrent: session.id === currentId });
}
