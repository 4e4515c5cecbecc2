import type { People } from '../contract/index.ts';
import { createInvitations } from './invitations.ts';
import { createMembers } from './members.ts';
import { createOidcSignIn } from './oidc-sign-in.ts';
import { createPasswordResets } from './password-resets.ts';
import { createPasskeys, createPasskeySignIn } from './passkeys.ts';
import type { PeopleParts } from './people-parts.ts';
import { createSignIn } from './sign-in.ts';

/** People as the API sees them. */
export function createPeople(parts: PeopleParts): People {
  return {
    ...createMembers(parts),
    ...createInvitations(parts),
    ...createSignIn(parts),
    ...createPasswordResets(parts),
    ...createOidcSignIn(parts),
    ...createPasskeys(parts),
    ...createPasskeySignIn(parts),
  };
}
