import { HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import { generateSessionToken, hashToken, readSessionBearer } from '../accounts/index.ts';
import { type People, refuseField, type SignInClient } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { normalizeEmail } from './email-address.ts';
import { findPerson, lockPerson, type Person, readPerson, setPassword } from './people.sql.ts';
import type { PeopleParts } from './people-parts.ts';
import { renewSignInTurns, takeSignInTurn } from './sign-in.sql.ts';
import {
  deleteSessionOfToken,
  deleteUserSession,
  insertUserSession,
  isOpenSession,
  readUserSessions,
} from './user-sessions.sql.ts';

const EMAIL_INTERVAL_SECONDS = 30;
const ADDRESS_INTERVAL_SECONDS = 5;
const MAX_USER_AGENT_CHARS = 256;

/** How members sign in and out. */
export function createSignIn(
  parts: PeopleParts,
): Pick<People, 'signIn' | 'signOut' | 'sessions' | 'endSession' | 'changePassword'> {
  const { sql, cache, passwords } = parts;
  const forget = (personId: string) => cache.forgetWhere(({ member }) => member?.personId === personId);
  return {
    signIn: ({ email, password }, client) =>
      passwords.inTurn(async () => {
        const person = await checkPassword(parts, { email, password }, client);
        const bearer = await beginSession(sql, person, client);
        const who = await parts.authenticate(bearer);
        if (who === undefined) throw wrongPassword();
        return { bearer, who };
      }, clientNetwork(client)),
    async signOut(bearer) {
      const session = readSessionBearer(bearer);
      if (session === undefined) return;
      const id = await deleteSessionOfToken(sql, hashToken(session.token));
      if (id !== undefined) cache.forgetWhere(({ member }) => member?.sessionId === id);
    },
    sessions: async ({ member }) => (member === undefined ? [] : readUserSessions(sql, member.personId)),
    async endSession({ member }, id) {
      const isOwn = member !== undefined && !id.includes('\0');
      if (!isOwn || !(await deleteUserSession(sql, member.personId, id))) throw notFound('session', id);
      cache.forgetWhere((who) => who.member?.sessionId === id);
    },
    async changePassword({ member }, { current, next }) {
      if (member === undefined)
        throw new HeadwaterError('FORBIDDEN', 'An API key has no password: sign in as a member to change yours');
      checkNewPassword(next, 'password');
      await passwords.inTurn(async () => {
        const person = await readPerson(sql, member.personId);
        await requireOwnPassword(parts, member.email, { current, passwordHash: person?.passwordHash });
        const hash = await passwords.hash(next);
        await sql.begin(async (tx) => {
          const isSame = await lockPerson(tx, member.personId, person?.passwordHash);
          if (!isSame || !(await isOpenSession(tx, member.personId, member.sessionId)))
            refuseField('current_password', 'has just been changed');
          await setPassword(tx, member.personId, hash, member.sessionId);
        });
      });
      await renewSignInTurns(sql, { kind: 'email', of: member.email });
      forget(member.personId);
    },
  };
}

/**
 * The person with this e-mail address and password. Throws UNAUTHORIZED, RATE_LIMITED. To be called
 * in a turn of `passwords`.
 */
export async function checkPassword(
  { sql, passwords }: Pick<PeopleParts, 'sql' | 'passwords'>,
  { email: given, password }: { email: string; password: string },
  client: SignInClient,
): Promise<Person> {
  const email = normalizeEmail(given);
  await requireTurns(sql, email, client.address);
  // An address that no person has is looked up as well: the answer takes as long.
  const person = email.includes('\0') ? undefined : await findPerson(sql, email);
  const isRight = await passwords.verify(password.slice(0, LIMITS.maxPasswordChars + 1), person?.passwordHash);
  if (!isRight || person === undefined) throw wrongPassword();
  await renewSignInTurns(sql, { kind: 'email', of: email });
  return person;
}

/**
 * Throws INVALID_REQUEST for a wrong current password, and RATE_LIMITED. To be called in a turn of
 * `passwords`.
 */
export async function requireOwnPassword(
  { sql, passwords }: Pick<PeopleParts, 'sql' | 'passwords'>,
  email: string,
  { current, passwordHash }: { current: string; passwordHash: string | undefined },
): Promise<void> {
  await requireTurns(sql, email, undefined);
  if (!(await passwords.verify(current, passwordHash))) refuseField('current_password', 'is wrong');
}

/** Counts the attempt, whether it succeeds or not. */
export async function requireTurns(sql: Sql, email: string | undefined, address: string | undefined): Promise<void> {
  const perAddress = { burst: LIMITS.signInsPerAddress, intervalSeconds: ADDRESS_INTERVAL_SECONDS };
  const perEmail = { burst: LIMITS.signInsPerEmail, intervalSeconds: EMAIL_INTERVAL_SECONDS };
  const isFree =
    (address === undefined ||
      (await takeSignInTurn(sql, { kind: 'address', of: networkOf(address), ...perAddress }))) &&
    (email === undefined || (await takeSignInTurn(sql, { kind: 'email', of: email, ...perEmail })));
  if (isFree) return;
  throw new HeadwaterError(
    'RATE_LIMITED',
    'Sign-in was tried too often from this address or with this e-mail address',
    {
      retryAfterSeconds: EMAIL_INTERVAL_SECONDS,
    },
  );
}

/** Name of the client for the bound on its sign-ins. */
export function clientNetwork({ address }: SignInClient): string | undefined {
  return address === undefined ? undefined : networkOf(address);
}

/** A client of IPv6 has a whole /64. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  return head.split(':').slice(0, 4).join(':');
}

/** The bearer of a session that begins now. */
export async function beginSession(
  sql: Sql | Transaction,
  { id: personId, passwordHash }: Pick<Person, 'id' | 'passwordHash'>,
  client: SignInClient,
): Promise<string> {
  const token = generateSessionToken();
  const userAgent = client.userAgent?.slice(0, MAX_USER_AGENT_CHARS).toWellFormed().replaceAll('\0', '');
  const row = {
    id: newId('userSession'),
    personId,
    tokenHash: hashToken(token),
    days: LIMITS.userSessionDays,
    ...(passwordHash === undefined ? {} : { passwordHash }),
    client: { ...client, ...(userAgent === undefined ? {} : { userAgent }) },
  };
  if (!(await insertUserSession(sql, row, LIMITS.maxUserSessions))) throw wrongPassword();
  return token;
}

export function checkNewPassword(password: string, path: string): void {
  const { minPasswordChars: min, maxPasswordChars: max } = LIMITS;
  if (password.length >= min && password.length <= max) return;
  refuseField(path, `must have ${min} to ${max} characters`);
}

export function wrongPassword(): HeadwaterError {
  return new HeadwaterError('UNAUTHORIZED', 'The e-mail address or the password is wrong');
}
