import { HeadwaterError, LIMITS, newId, notFound, platformLimit, randomToken, type Role } from '@headwater/shared';
import { hashToken, lockAccount, overLimit, readSessionBearer } from '../accounts/index.ts';
import {
  type Acceptance,
  findTextFault,
  type NewInvitation,
  type People,
  type Principal,
  type SignInClient,
  throwFields,
} from '../contract/index.ts';
import type { Transaction } from '../db/index.ts';
import { takeEmail } from '../outbox/index.ts';
import { normalizeEmail } from './email-address.ts';
import {
  deleteInvitation,
  deleteOwnerInvitationsOfKeys,
  findInvitation,
  putInvitation,
  readInvitations,
  type StoredInvitation,
} from './invitations.sql.ts';
import { mayChangeOwners, mayNow, ownersOnly, roleChanged } from './members.ts';
import { countMembers, insertMember, isMember } from './members.sql.ts';
import { findPerson, insertPerson, lockPerson, markVerified, type Person, takeOver } from './people.sql.ts';
import type { PeopleParts } from './people-parts.ts';
import { isOpenSession } from './user-sessions.sql.ts';
import {
  beginSession,
  checkNewPassword,
  checkPassword,
  clientNetwork,
  requireTurns,
  wrongPassword,
} from './sign-in.ts';

const TOKEN = /^hw_invite_[0-9A-Za-z]{40}$/;
const newToken = () => `hw_invite_${randomToken(40)}`;
const EMAIL = /^[^\s@\0]+@[^\s@\0]+$/;

type Invitations = Pick<
  People,
  'invitations' | 'invite' | 'inviteTo' | 'revokeInvitation' | 'openInvitation' | 'accept'
>;

/** How people become members. */
export function createInvitations(parts: PeopleParts): Invitations {
  const { sql } = parts;
  return {
    invitations: ({ accountId }) => readInvitations(sql, accountId),
    invite: (who, invitation) => invite(parts, who, invitation),
    inviteTo: (accountId, invitation) => invite(parts, accountId, invitation),
    async revokeInvitation({ accountId }, id) {
      if (id.includes('\0') || !(await deleteInvitation(sql, accountId, id))) throw notFound('invitation', id);
    },
    async openInvitation(token) {
      const { accountName, email, role, expiresAt } = await openLink(parts, token);
      return { accountName, email, role, expiresAt };
    },
    async accept(acceptance, client, around = (_, made) => made()) {
      const invitation = await openLink(parts, acceptance.token);
      const person = await personOf(parts, invitation, acceptance, client);
      const { bearer } = await around(invitation, () => sql.begin((tx) => join(tx, invitation, person, client)));
      // A new password of one who was there has ended sessions.
      if (person.isClaimed) parts.cache.forgetWhere(({ member }) => member?.personId === person.id);
      const who = await parts.authenticate(`${bearer}.${invitation.accountId}`);
      if (who === undefined) throw wrongPassword();
      return { bearer, who };
    },
  };
}

/** `who`: a principal, or the account that the operator invites to. */
async function invite(
  { sql, publicUrl, ...parts }: PeopleParts,
  who: Principal | string,
  { email: given, role }: { email: string; role: Role },
): Promise<NewInvitation> {
  const email = normalizeEmail(given);
  const fault = EMAIL.test(email) ? findTextFault(email, 'maxEmailChars') : { message: 'must be an e-mail address' };
  if (fault !== undefined) throwFields([{ path: 'email', ...fault }]);
  const accountId = typeof who === 'string' ? who : who.accountId;
  const invitedBy = typeof who === 'string' ? 'operator' : (who.keyId ?? who.userId);
  const [token, mailToken] = [newToken(), newToken()];
  const row = {
    id: newId('invitation'),
    accountId,
    email,
    role,
    tokenHash: hashToken(token),
    mailTokenHash: hashToken(mailToken),
    invitedBy,
    days: LIMITS.invitationDays,
  };
  const made = await sql.begin(async (tx) => {
    if (typeof who !== 'string' && !(await mayNow(tx, who, 'members'))) throw roleChanged();
    if (typeof who !== 'string' && role === 'owner' && !(await mayChangeOwners(tx, who))) throw ownersOnly();
    if (await isMember(tx, accountId, email)) throw alreadyMember(email);
    return putInvitation(tx, row, LIMITS.maxInvitations);
  });
  if (made === 'no account') throw notFound('account', accountId);
  if (made === 'full') throw overLimit(platformLimit('maxInvitations', LIMITS.maxInvitations + 1));
  const linkOf = (secret: string) => `${publicUrl}/invitation#token=${secret}`;
  const mailed = await mail({ sql, publicUrl, ...parts }, made, linkOf(mailToken));
  return { ...made, link: linkOf(token), mailed };
}

/** Counts as one of the account's e-mails of today, so that nobody is flooded with invitations. */
async function mail(
  { sql, limits, mailer }: PeopleParts,
  { id, accountId, accountName, email, role, expiresAt }: StoredInvitation,
  link: string,
): Promise<boolean> {
  if (!mailer.isConfigured) return false;
  const { maxEmailsPerDay } = await limits.get(accountId);
  if ((await takeEmail(sql, accountId, maxEmailsPerDay)) === undefined) return false;
  // Not waited for: the answer has a link of its own, and the mailer logs what fails.
  void mailer.send(email, id, {
    subject: 'You are invited to an account of Headwater',
    text: [
      `You are invited to the account “${oneLine(accountName)}” as ${role}.`,
      `Open this link until ${expiresAt.toISOString().slice(0, 10)} to join. It works once, and for you alone:`,
      link,
      'If you do not know of this, ignore it.',
    ].join('\n\n'),
  });
  return true;
}

/**
 * A tenant's text in a mail of this server: no lines that look like ours, no addresses to click.
 */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .replaceAll(/:\/\/|www\./gi, ' ')
    .slice(0, 64);
}

/** Throws NOT_FOUND. */
export async function openLink({ sql }: Pick<PeopleParts, 'sql'>, token: string): Promise<StoredInvitation> {
  const found = TOKEN.test(token) ? await findInvitation(sql, hashToken(token)) : undefined;
  if (found !== undefined) return found;
  throw new HeadwaterError(
    'NOT_FOUND',
    'This invitation does not work (any more): it was used or revoked, or has expired. Ask for another one.',
  );
}

interface Joining extends Person {
  isNew: boolean;
  /** The person was there, made by somebody who had a link, and the address is another's. */
  isClaimed: boolean;
  /** The session by which the person accepts. It goes on, and no other begins. */
  session?: { id: string; token: string };
}

/**
 * The person who accepts: by a session, by the password of the person who is there, or as a new
 * person.
 */
async function personOf(
  parts: PeopleParts,
  { email, isMailed }: StoredInvitation,
  { name, password = '', bearer = '' }: Acceptance,
  client: SignInClient,
): Promise<Joining> {
  const { sql, passwords } = parts;
  const session = readSessionBearer(bearer);
  const signedIn = session && (await parts.authenticate(bearer));
  if (session !== undefined && signedIn?.member !== undefined) {
    if (signedIn.member.email !== email)
      throw new HeadwaterError('FORBIDDEN', `The invitation is for ${email}, and you are ${signedIn.member.email}`);
    const person = await findPerson(sql, email);
    if (person !== undefined) {
      const accepting = { id: signedIn.member.sessionId, token: session.token };
      return { ...person, isVerified: isMailed, isNew: false, isClaimed: false, session: accepting };
    }
  }
  checkNewPassword(password, 'password');
  const shownName = name?.trim() || (email.split('@')[0] ?? email);
  const fault = findTextFault(shownName, 'maxNameChars');
  if (fault !== undefined) throwFields([{ path: 'name', ...fault }]);
  return passwords.inTurn(async () => {
    const known = await findPerson(sql, email);
    if (known === undefined || (isMailed && !known.isVerified)) {
      await requireTurns(sql, email, client.address);
      const made = { email, name: shownName, passwordHash: await passwords.hash(password), isVerified: isMailed };
      if (known === undefined) return { ...made, id: newId('person'), isNew: true, isClaimed: false };
      return { ...made, id: known.id, isNew: false, isClaimed: true };
    }
    const person = await checkPassword(parts, { email, password }, client);
    return { ...person, isVerified: isMailed, isNew: false, isClaimed: false };
  }, clientNetwork(client));
}

async function join(
  tx: Transaction,
  invitation: StoredInvitation,
  person: Joining,
  client: SignInClient,
): Promise<{ bearer: string; userId: string }> {
  const { id, accountId, role, email } = invitation;
  // The account's lock comes first, as everywhere: members are counted one after the other.
  const members = await lockedCount(tx, accountId);
  if (!(await deleteInvitation(tx, accountId, id)))
    throw new HeadwaterError('NOT_FOUND', 'This invitation was just used or revoked');
  if (members >= LIMITS.maxMembers) throw overLimit(platformLimit('maxMembers', members + 1));
  const isThere = person.isNew
    ? await insertPerson(tx, person)
    : await lockPerson(tx, person.id, person.isClaimed ? undefined : person.passwordHash);
  if (!isThere) throw new HeadwaterError('CONFLICT', 'This person has just changed. Try again.');
  // Ended on another node, it is known here for some seconds yet.
  const { session } = person;
  if (session !== undefined && !(await isOpenSession(tx, person.id, session.id))) throw wrongPassword();
  if (person.isClaimed && person.passwordHash !== undefined) await takeOver(tx, person.id, person.passwordHash);
  if (person.isVerified) await markVerified(tx, person.id);
  const member = { userId: newId('user'), accountId, personId: person.id, name: person.name, role };
  if (!(await insertMember(tx, member))) throw alreadyMember(email);
  // A key invites the first owner alone.
  if (role === 'owner') await deleteOwnerInvitationsOfKeys(tx, accountId);
  // A stolen session does not begin one that is younger, or that outlasts it.
  const bearer = session?.token ?? (await beginSession(tx, person, client));
  return { bearer, userId: member.userId };
}

async function lockedCount(tx: Transaction, accountId: string): Promise<number> {
  await lockAccount(tx, accountId);
  return countMembers(tx, accountId);
}

function alreadyMember(email: string): HeadwaterError {
  return new HeadwaterError('CONFLICT', `${email} is a member of this account already`);
}
