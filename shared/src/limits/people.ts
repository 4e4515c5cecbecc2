import { defineLimits } from './define-limits.ts';

/** Members, invitations and sign-in. */
// biome-ignore format: one limit a line
export const PEOPLE_LIMITS = defineLimits({
  maxMembers: { default: 500, unit: 'count', scope: 'account', why: 'members' },
  maxInvitations: { default: 100, unit: 'count', scope: 'account', why: 'invitations that were not accepted yet' },
  invitationDays: { default: 7, unit: 'days', scope: 'invitation', why: 'how long its link works' },
  userSessionDays: { default: 30, unit: 'days', scope: 'session', why: 'how long after its sign-in a session of a member ends' },
  maxUserSessions: { default: 50, unit: 'count', scope: 'person', why: 'sessions at the same time; the oldest one ends' },
  passwordResetMinutes: { default: 60, unit: 'minutes', scope: 'link', why: 'how long a mailed link sets a new password; three of an address, then one each 20 minutes' },
  maxPasskeys: { default: 20, unit: 'count', scope: 'person', why: 'passkeys' },
  passkeyMinutes: { default: 5, unit: 'minutes', scope: 'passkey', why: 'how long after it was begun a passkey is made, or signs in' },
  newPasskeyMinutes: { default: 10, unit: 'minutes', scope: 'session', why: 'how long after its sign-in a session adds a passkey without the password' },
  minPasswordChars: { default: 10, unit: 'characters', scope: 'person', why: 'the shortest password' },
  maxPasswordChars: { default: 256, unit: 'characters', scope: 'person', why: 'the longest password' },
  maxPasswordChecks: { default: 2, unit: 'count', scope: 'node', why: 'passwords that are checked at the same time, each with 19 MiB of memory' },
  maxWaitingPasswordChecks: { default: 32, unit: 'count', scope: 'node', why: 'sign-ins that wait for that; others are refused (429)' },
  signInsPerEmail: { default: 10, unit: 'count', scope: 'e-mail address', why: 'sign-ins at once, after which there is one each 30 seconds (429); one that succeeds begins anew' },
  signInsPerAddress: { default: 50, unit: 'count', scope: 'client address', why: 'sign-ins at once, after which there is one each 5 seconds (429)' },
});
