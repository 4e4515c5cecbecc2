import type { Role } from '@headwater/shared';
import type { Principal } from './base.ts';

/** A person in an account. */
export interface MemberRecord {
  /** The id of the user in this account, `u_…`: a person has another one in each. */
  id: string;
  email: string;
  name: string;
  role: Role;
  joinedAt: Date;
  /** As of half a minute ago; absent where no session is left. */
  lastSeenAt?: Date;
}

export interface InvitationRecord {
  id: string;
  email: string;
  role: Role;
  /** `u_…`, `key_…`, or `operator`. */
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface NewInvitation extends InvitationRecord {
  /** Shown this once. */
  link: string;
  /** A mail with another link was sent to the address. */
  mailed: boolean;
}

/** An invitation as the one sees it who has its link. */
interface OpenInvitation {
  accountName: string;
  email: string;
  role: Role;
  expiresAt: Date;
}

export interface UserSessionRecord {
  id: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  address?: string;
  userAgent?: string;
}

export interface PasskeyRecord {
  id: string;
  name: string;
  /** How browsers reach its authenticator, as they say: `internal`, `usb`, `hybrid` … */
  transports: string[];
  /** A copy is kept elsewhere, as by a password manager. */
  isBackedUp: boolean;
  createdAt: Date;
  /** Absent: it has not signed in yet. */
  lastUsedAt?: Date;
}

/** A passkey that is being added, or that signs in. */
export interface BegunPasskey {
  /** Base64url. */
  challenge: string;
  /** The client’s to bring back, sealed. */
  flow: string;
}

/** An authenticator has proven that it has the key. */
export interface PasskeyProof {
  signCount: number;
  isBackedUp: boolean;
}

/** A passkey that a browser has made. */
export interface PasskeyCredential extends PasskeyProof {
  credentialId: Uint8Array;
  /** COSE_Key of RFC 9052. */
  publicKey: Uint8Array;
  transports: string[];
}

/** A passkey that is to sign in. */
export interface StoredPasskey {
  id: string;
  personId: string;
  publicKey: Uint8Array;
  signCount: number;
}

/** The client that signs in. */
export interface SignInClient {
  address?: string;
  userAgent?: string;
}

export interface Acceptance {
  token: string;
  /** The name of a new person. Default: what stands before the @. */
  name?: string;
  /** The password of a new person, or of the one who is there. Not needed with `bearer`. */
  password?: string;
  /** The session of the person who accepts. */
  bearer?: string;
}

/** A session that began: `bearer` is shown this once. */
interface BegunSession {
  bearer: string;
  who: Principal;
}

/**
 * Makes a person a member with an invitation that was found, when all that comes before was
 * checked. `userId` is absent where nothing was changed.
 */
export type AroundJoining = <T extends { userId?: string }>(
  invitation: InvitationRecord & { accountId: string },
  join: () => Promise<T>,
) => Promise<T>;

/** Sets a password by a link that was found. `users`: what the person is in each account. */
export type AroundReset = <T extends { email: string; users: { accountId: string; userId: string }[] }>(
  reset: () => Promise<T>,
) => Promise<T>;

/**
 * Members of accounts, their invitations, and how they sign in. The end of a session and a changed
 * role hold at once on this node and within five seconds on others.
 */
export interface People {
  /** The oldest first. */
  members(who: Principal): Promise<MemberRecord[]>;
  /** The user that the person is in each account; none for an API key. */
  usersOf(who: Principal): Promise<{ accountId: string; userId: string }[]>;
  /** Throws NOT_FOUND, FORBIDDEN (see `invite`), CONFLICT for the last owner. */
  setRole(who: Principal, id: string, role: Role): Promise<MemberRecord>;
  /**
   * Everything that the member made stays; with `revokeKeys` the API keys do not. Throws as
   * setRole. A person who is a member of nothing else is forgotten.
   */
  remove(who: Principal, id: string, options: { revokeKeys: boolean }): Promise<void>;
  /** Those that were not accepted, newest first. */
  invitations(who: Principal): Promise<InvitationRecord[]>;
  /**
   * Another one for the same address takes the place of the first. Owners are invited by owners,
   * and by an API key as long as there is no owner (FORBIDDEN). Throws INVALID_REQUEST, CONFLICT
   * for a member.
   */
  invite(who: Principal, invitation: { email: string; role: Role }): Promise<NewInvitation>;
  /** The same for the operator, to any account, of any role. Throws NOT_FOUND as well. */
  inviteTo(accountId: string, invitation: { email: string; role: Role }): Promise<NewInvitation>;
  revokeInvitation(who: Principal, id: string): Promise<void>;
  /** Throws NOT_FOUND for a link that was used, revoked, or has expired. */
  openInvitation(token: string): Promise<OpenInvitation>;
  /**
   * Makes the person a member, and signs in; a session that accepts goes on. A link works once.
   * Throws NOT_FOUND, INVALID_REQUEST, CONFLICT for a member, FORBIDDEN for the session of another
   * person, and as signIn.
   */
  accept(acceptance: Acceptance, client: SignInClient, around?: AroundJoining): Promise<BegunSession>;
  /**
   * Throws UNAUTHORIZED in the same words, and after the same work, whether there is such a person
   * or not; RATE_LIMITED for an address, or with an e-mail address, with which it is tried too
   * often, and while many sign in.
   */
  signIn(credentials: { email: string; password: string }, client: SignInClient): Promise<BegunSession>;
  /** How members may sign in here, beside with a password. */
  signInMethods(): { passwordReset: boolean; oidc?: { name: string } };
  /**
   * The URL to send the browser to, and what it is to bring back. `from`: the path of the UI to end
   * at. `invitation`: the token of the one to accept.
   * Throws NOT_FOUND where the operator has set no provider, or the invitation does not work;
   * OidcRefusal `failed`.
   */
  beginOidc(begin: { from?: string; invitation?: string }): Promise<{ url: string; flow: string }>;
  /**
   * A session of the person whose address the provider has verified, who joins the account of the
   * invitation with which the sign-in began, and no other. `parameters`: what the browser came
   * back with. `joined`: the account that the person joined. Throws OidcRefusal, and RATE_LIMITED
   * as signIn.
   */
  finishOidc(
    answer: { flow: string; parameters: URLSearchParams },
    client: SignInClient,
    around?: AroundJoining,
  ): Promise<BegunSession & { from: string; joined?: string }>;
  /**
   * Mails a link with which the person sets a new password. The same for an address that no person
   * has: nothing is mailed. Throws CONFLICT where the server sends no mail, RATE_LIMITED as signIn.
   */
  requestPasswordReset(email: string, client: SignInClient): Promise<void>;
  /**
   * Sets the password, ends all sessions and begins one. Throws NOT_FOUND for a link that was used
   * or has expired, INVALID_REQUEST, and RATE_LIMITED while many sign in.
   */
  resetPassword(
    reset: { token: string; password: string },
    client: SignInClient,
    around?: AroundReset,
  ): Promise<BegunSession>;
  /** The caller's own, newest first; none for an API key. */
  passkeys(who: Principal): Promise<PasskeyRecord[]>;
  /**
   * Begins to add one, in a young session or with the current password. `known`: those that the
   * person has. Throws INVALID_REQUEST where the password is needed or wrong, FORBIDDEN for an API
   * key, RATE_LIMITED as signIn.
   */
  beginPasskey(
    who: Principal,
    current: string | undefined,
  ): Promise<
    BegunPasskey & {
      person: { id: string; email: string; name: string };
      known: { credentialId: Uint8Array; transports: string[] }[];
    }
  >;
  /**
   * Adds the passkey that `verify` finds proven with the challenge; what it throws is thrown.
   * Throws INVALID_REQUEST for a flow of another session, one that was used, or that took too
   * long. CONFLICT for a passkey that is known, or one too many.
   */
  addPasskey(
    who: Principal,
    added: { flow: string; name: string },
    verify: (challenge: string) => Promise<PasskeyCredential>,
  ): Promise<PasskeyRecord>;
  /** Throws NOT_FOUND for what is no passkey of the caller. */
  renamePasskey(who: Principal, id: string, name: string): Promise<PasskeyRecord>;
  /** Throws NOT_FOUND as renamePasskey. */
  removePasskey(who: Principal, id: string): Promise<void>;
  /** `browser`: a token that this browser alone has. */
  beginPasskeySignIn(browser: string): BegunPasskey;
  /**
   * Begins a session where `verify` finds the challenge signed with the stored key. Throws
   * UNAUTHORIZED in the same words for a passkey that nobody has, that `verify` throws for, or
   * whose count goes backwards; RATE_LIMITED by the address of the client.
   */
  signInWithPasskey(
    answer: { flow: string; browser: string; credentialId: Uint8Array },
    client: SignInClient,
    verify: (challenge: string, stored: StoredPasskey) => Promise<PasskeyProof>,
  ): Promise<BegunSession>;
  /** Ends the session of a bearer, if there is one. */
  signOut(bearer: string): Promise<void>;
  /** The caller's own, newest first; none for an API key. */
  sessions(who: Principal): Promise<UserSessionRecord[]>;
  /** Throws NOT_FOUND for what is no session of the caller. */
  endSession(who: Principal, id: string): Promise<void>;
  /**
   * Ends all other sessions of the caller. Throws FORBIDDEN for an API key, INVALID_REQUEST where
   * `current` is wrong, RATE_LIMITED as signIn.
   */
  changePassword(who: Principal, passwords: { current: string; next: string }): Promise<void>;
}
