import { HeadwaterError, LIMITS, newId, notFound, platformLimit } from '@headwater/shared';
import { overLimit } from '../accounts/index.ts';
import {
  findTextFault,
  type PasskeyProof,
  type People,
  type Principal,
  refuseField,
  type StoredPasskey,
  throwFields,
} from '../contract/index.ts';
import { beginChallenge, takeChallenge } from './passkey-challenges.ts';
import {
  countPasskeys,
  deletePasskey,
  findPasskey,
  insertPasskey,
  readCredentials,
  readPasskeys,
  updatePasskeyName,
  usePasskey,
} from './passkeys.sql.ts';
import { lockPerson, readPerson } from './people.sql.ts';
import type { PeopleParts } from './people-parts.ts';
import { beginSession, clientNetwork, requireOwnPassword, requireTurns } from './sign-in.ts';
import { renewSignInTurns } from './sign-in.sql.ts';
import { isOpenSession, isYoungSession } from './user-sessions.sql.ts';

type Member = NonNullable<Principal['member']>;
type OwnPasskeys = Pick<People, 'passkeys' | 'beginPasskey' | 'addPasskey' | 'renamePasskey' | 'removePasskey'>;
type PasskeySignIn = Pick<People, 'beginPasskeySignIn' | 'signInWithPasskey'>;

/** The passkeys of a person. */
export function createPasskeys(parts: PeopleParts): OwnPasskeys {
  const { sql } = parts;
  return {
    passkeys: async ({ member }) => (member === undefined ? [] : readPasskeys(sql, member.personId)),
    async beginPasskey(who, current) {
      const member = memberOf(who);
      const person = await readPerson(sql, member.personId);
      if (person === undefined) throw new HeadwaterError('UNAUTHORIZED', 'Your session has ended. Sign in again.');
      await requireFreshProof(parts, member, person.passwordHash, current);
      const { id, email, name } = person;
      const known = await readCredentials(sql, id);
      return { ...beginChallenge(parts, 'new passkey', member.sessionId), person: { id, email, name }, known };
    },
    async addPasskey(who, { flow, name }, verify) {
      const { personId, sessionId } = memberOf(who);
      checkName(name);
      const challenge = await takeChallenge(parts, 'new passkey', { flow, holder: sessionId });
      if (challenge === undefined) return refuseField('flow', ENDED);
      const passkey = await verify(challenge);
      return sql.begin(async (tx) => {
        // A person who was taken over meanwhile has no session any more.
        const isOpen = (await lockPerson(tx, personId)) && (await isOpenSession(tx, personId, sessionId));
        if (!isOpen) throw new HeadwaterError('UNAUTHORIZED', 'Your session has ended. Sign in again.');
        const count = await countPasskeys(tx, personId);
        if (count >= LIMITS.maxPasskeys) throw overLimit(platformLimit('maxPasskeys', count + 1));
        const added = await insertPasskey(tx, { ...passkey, id: newId('passkey'), personId, name });
        if (added === undefined)
          throw new HeadwaterError('CONFLICT', 'This passkey was added before: make another one');
        return added;
      });
    },
    async renamePasskey(who, id, name) {
      checkName(name);
      const { personId } = memberOf(who);
      const renamed = id.includes('\0') ? undefined : await updatePasskeyName(sql, personId, id, name);
      if (renamed === undefined) throw notFound('passkey', id);
      return renamed;
    },
    async removePasskey(who, id) {
      const { personId } = memberOf(who);
      if (id.includes('\0') || !(await deletePasskey(sql, personId, id))) throw notFound('passkey', id);
    },
  };
}

/** How people sign in with a passkey. */
export function createPasskeySignIn(parts: PeopleParts): PasskeySignIn {
  const { sql, log } = parts;
  return {
    beginPasskeySignIn: (browser) => beginChallenge(parts, 'passkey sign-in', browser),
    async signInWithPasskey({ flow, browser, credentialId }, client, verify) {
      // By the client alone: who does not have the key has nothing to guess, and a stranger who
      // knows an address cannot keep its person out.
      await requireTurns(sql, undefined, client.address);
      const challenge = await takeChallenge(parts, 'passkey sign-in', { flow, holder: browser });
      if (challenge === undefined) throw new HeadwaterError('UNAUTHORIZED', `The sign-in with this passkey ${ENDED}`);
      const passkey = await findPasskey(sql, credentialId);
      const used = await proveUse(passkey, (stored) => verify(challenge, stored)).catch((cause: unknown) => {
        log.warn({ err: cause, passkey: passkey?.id, client: clientNetwork(client) }, 'a passkey was refused');
        throw refused(cause);
      });
      const bearer = await sql.begin(async (tx) => {
        // In the order of a takeover, which locks the person, then deletes sessions and passkeys.
        if (!(await lockPerson(tx, used.personId)) || !(await usePasskey(tx, used))) throw refused();
        return beginSession(tx, { id: used.personId }, client);
      });
      const who = await parts.authenticate(bearer);
      if (who === undefined) throw refused();
      return { bearer, who };
    },
  };
}

const ENDED = `was begun in another browser, was used, or is older than ${LIMITS.passkeyMinutes} minutes: try again`;

async function proveUse(
  passkey: StoredPasskey | undefined,
  verify: (stored: StoredPasskey) => Promise<PasskeyProof>,
): Promise<PasskeyProof & Pick<StoredPasskey, 'id' | 'personId'>> {
  if (passkey === undefined) throw new Error('No person has this passkey');
  return { ...(await verify(passkey)), id: passkey.id, personId: passkey.personId };
}

function memberOf({ member }: Principal): Member {
  if (member !== undefined) return member;
  throw new HeadwaterError('FORBIDDEN', 'An API key has no passkeys: sign in as a member to see to yours');
}

/**
 * A passkey outlasts the session that adds it. So a cookie that was stolen, or a browser that was
 * left open, does not add one.
 */
async function requireFreshProof(
  { sql, passwords }: PeopleParts,
  { email, personId, sessionId }: Member,
  passwordHash: string | undefined,
  current: string | undefined,
): Promise<void> {
  if (await isYoungSession(sql, personId, sessionId, LIMITS.newPasskeyMinutes)) return;
  const path = 'current_password';
  if (current === undefined || passwordHash === undefined) {
    const message = `is needed, or a session that is younger than ${LIMITS.newPasskeyMinutes} minutes: sign in again`;
    return refuseField(path, message);
  }
  await passwords.inTurn(() => requireOwnPassword({ sql, passwords }, email, { current, passwordHash }));
  await renewSignInTurns(sql, { kind: 'email', of: email });
}

function checkName(name: string): void {
  const fault = name.trim() === '' ? { message: 'must not be empty' } : findTextFault(name, 'maxNameChars');
  if (fault !== undefined) throwFields([{ path: 'name', ...fault }]);
}

function refused(cause?: unknown): HeadwaterError {
  const message =
    'This passkey does not sign in here: it was removed, or was made for another server. Sign in another way.';
  return new HeadwaterError('UNAUTHORIZED', message, { cause });
}
