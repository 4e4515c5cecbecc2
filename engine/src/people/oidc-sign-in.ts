import { LIMITS, newId, notFound } from '@headwater/shared';
import type { InvitationRecord, People, SignInClient } from '../contract/people.ts';
import type { Transaction } from '../db/database.ts';
import { lockAccount } from '../accounts/require-room.sql.ts';
import { SealError } from '../secrets/seal.ts';
import { deleteInvitation, deleteOwnerInvitationsOfKeys, readInvitationsTo } from './invitations.sql.ts';
import { countMembers, insertMember } from './members.sql.ts';
import { createOidcClient, type OidcFlow, type OidcIdentity, OidcRefusal } from './oidc-client.ts';
import type { PeopleParts } from './people-parts.ts';
import { clearPassword, insertPerson, lockPersonWithEmail, type Person } from './people.sql.ts';
import { beginSession, requireTurns } from './sign-in.ts';

type OidcSignIn = Pick<People, 'signInMethods' | 'beginOidc' | 'finishOidc'>;

/** The browser keeps a flow before it is known who signs in: it is of no account. */
const SEALED_FOR = 'oidc';
const CALLBACK_PATH = '/oauth/sign-in/callback';

interface Joined {
  accountId: string;
  userId: string;
  invitation: InvitationRecord;
}

/** How people sign in at the operator's provider. */
export function createOidcSignIn(parts: PeopleParts): OidcSignIn {
  const { sql, sealer, oidc, mailer, publicUrl } = parts;
  const client = oidc && createOidcClient(oidc, `${publicUrl}${CALLBACK_PATH}`);
  const requireProvider = () => {
    if (client === undefined) throw notFound('sign-in', 'oidc');
    return client;
  };
  return {
    signInMethods: () => ({
      passwordReset: mailer.isConfigured,
      ...(oidc === undefined ? {} : { oidc: { name: oidc.name ?? new URL(oidc.issuer).hostname } }),
    }),
    async beginOidc(from) {
      const { url, flow } = await requireProvider().begin(from);
      return { url, flow: sealer.seal(SEALED_FOR, JSON.stringify(flow)) };
    },
    async finishOidc({ flow: sealed, parameters }, browser) {
      const flow = openFlow(parts, sealed);
      await requireTurns(sql, undefined, browser.address);
      const identity = await requireProvider().finish(flow, parameters);
      const { bearer, personId, joined } = await sql.begin((tx) => enter(tx, identity, browser));
      // One whose password another had made is somebody else's from now on.
      parts.cache.forgetWhere(({ member }) => member?.personId === personId);
      const who = await parts.authenticate(bearer);
      if (who === undefined) throw notInvited(identity);
      return { bearer, who, from: flow.from, joined };
    },
  };
}

function openFlow({ sealer }: PeopleParts, sealed: string): OidcFlow {
  try {
    return JSON.parse(sealer.open(SEALED_FOR, sealed)) as OidcFlow;
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new OidcRefusal('expired', 'No sign-in is under way in this browser', { cause });
  }
}

interface Entered {
  bearer: string;
  personId: string;
  joined: Joined[];
}

/** The person with this address, or a new one in the accounts that have invited it. */
async function enter(tx: Transaction, identity: OidcIdentity, client: SignInClient): Promise<Entered> {
  const { email } = identity;
  const known = await lockPersonWithEmail(tx, email);
  if (known !== undefined) {
    // Anybody who had a link can have made this person. The provider proves the address.
    if (!known.isVerified) await clearPassword(tx, known.id);
    return { bearer: await beginSession(tx, { id: known.id }, client), personId: known.id, joined: [] };
  }
  const invitations = await readInvitationsTo(tx, email);
  // As everywhere the accounts' locks come first, here in one order.
  for (const id of invitations.map(({ accountId }) => accountId).toSorted()) await lockAccount(tx, id);
  const name = (identity.name ?? email.split('@')[0] ?? email).slice(0, LIMITS.maxNameChars).replaceAll('\0', '');
  const person: Person = { id: newId('person'), email, name: name.toWellFormed(), isVerified: true };
  if (invitations.length === 0) throw notInvited(identity);
  if (!(await insertPerson(tx, person))) throw new OidcRefusal('failed', 'This person has just been made');
  const joined: Joined[] = [];
  for (const invitation of invitations) {
    const { id, accountId, role } = invitation;
    if (!(await deleteInvitation(tx, accountId, id)) || (await countMembers(tx, accountId)) >= LIMITS.maxMembers)
      continue;
    const userId = newId('user');
    await insertMember(tx, { userId, accountId, personId: person.id, name: person.name, role });
    if (role === 'owner') await deleteOwnerInvitationsOfKeys(tx, accountId);
    joined.push({ accountId, userId, invitation });
  }
  if (joined.length === 0) throw notInvited(identity);
  return { bearer: await beginSession(tx, person, client), personId: person.id, joined };
}

function notInvited({ email }: OidcIdentity): OidcRefusal {
  return new OidcRefusal('not_invited', `${email} belongs to no account here, and is not invited to one`);
}
