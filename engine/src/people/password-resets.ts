import { HeadwaterError, LIMITS, randomToken } from '@headwater/shared';
import { hashToken } from '../accounts/index.ts';
import type { People } from '../contract/index.ts';
import { normalizeEmail } from './email-address.ts';
import { readUsersOf } from './members.sql.ts';
import {
  deletePasswordReset,
  findPasswordReset,
  insertPasswordReset,
  renewSignInTurns,
  takeSignInTurn,
} from './sign-in.sql.ts';
import type { PeopleParts } from './people-parts.ts';
import { findPerson, lockPerson, readPerson, takeOver } from './people.sql.ts';
import { beginSession, checkNewPassword, clientNetwork, requireTurns, wrongPassword } from './sign-in.ts';

const TOKEN = /^hw_reset_[0-9A-Za-z]{40}$/;
const SECONDS_BETWEEN = 1_200;
const MAX_LINKS = 3;

type PasswordResets = Pick<People, 'requestPasswordReset' | 'resetPassword'>;

/** How a person sets a new password with a mailed link. */
export function createPasswordResets(parts: PeopleParts): PasswordResets {
  const { sql, passwords, mailer, log } = parts;
  return {
    async requestPasswordReset(given, client) {
      if (!mailer.isConfigured)
        throw new HeadwaterError(
          'CONFLICT',
          'This server sends no mail: ask an owner of your account to remove you and to invite you again',
        );
      await requireTurns(sql, undefined, client.address);
      const email = normalizeEmail(given);
      // Not waited for: how long the answer takes would tell whether there is such a person.
      void mailLink(parts, email).catch((err: unknown) => log.warn({ err }, 'a link for a password was not mailed'));
    },
    async resetPassword({ token, password }, client, around = (reset) => reset()) {
      checkNewPassword(password, 'password');
      const tokenHash = hashToken(token);
      const personId = TOKEN.test(token) ? await findPasswordReset(sql, tokenHash) : undefined;
      if (personId === undefined) throw endedLink();
      const hash = await passwords.inTurn(() => passwords.hash(password), clientNetwork(client));
      const reset = () =>
        sql.begin(async (tx) => {
          if (!(await lockPerson(tx, personId)) || !(await deletePasswordReset(tx, tokenHash))) throw endedLink();
          // Only the mail has the link. Whoever knew the password may have added a passkey.
          await takeOver(tx, personId, hash);
          const person = await readPerson(tx, personId);
          if (person === undefined) throw endedLink();
          const users = await readUsersOf(tx, personId);
          return { bearer: await beginSession(tx, person, client), email: person.email, users };
        });
      const { bearer, email } = await around(reset);
      parts.cache.forgetWhere(({ member }) => member?.personId === personId);
      await renewSignInTurns(sql, { kind: 'email', of: email });
      const who = await parts.authenticate(bearer);
      if (who === undefined) throw wrongPassword();
      return { bearer, who };
    },
  };
}

/** So few that nobody is flooded with mails by a stranger, who is not told either. */
async function mailLink({ sql, mailer, publicUrl }: PeopleParts, email: string): Promise<void> {
  const person = email.includes('\0') || email.length > LIMITS.maxEmailChars ? undefined : await findPerson(sql, email);
  if (person === undefined) return;
  const turn = { burst: MAX_LINKS, intervalSeconds: SECONDS_BETWEEN };
  if (!(await takeSignInTurn(sql, { kind: 'reset', of: email, ...turn }))) return;
  const token = `hw_reset_${randomToken(40)}`;
  const row = { personId: person.id, tokenHash: hashToken(token), minutes: LIMITS.passwordResetMinutes };
  await sql.begin((tx) => insertPasswordReset(tx, row, MAX_LINKS));
  await mailer.send(email, `reset-${randomToken(20)}`, {
    subject: 'Set a new password for Headwater',
    text: [
      'Somebody, you perhaps, has asked for a new password for this address.',
      `Open this link within ${LIMITS.passwordResetMinutes} minutes to set one. It works once:`,
      `${publicUrl}/password#token=${token}`,
      'If it was not you, ignore this mail: your password stays as it is.',
    ].join('\n\n'),
  });
}

function endedLink(): HeadwaterError {
  return new HeadwaterError(
    'NOT_FOUND',
    'This link does not work (any more): it was used, or has expired. Ask for another one.',
  );
}
