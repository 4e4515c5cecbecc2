import { HeadwaterError, LIMITS, newId } from '@headwater/shared';
import type { People, SignInClient } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { hashToken, lockAccount } from '../accounts/index.ts';
import { SealError } from '../secrets/index.ts';
import {
  deleteInvitation,
  deleteOwnerInvitationsOfKeys,
  findInvitation,
  type StoredInvitation,
} from './invitations.sql.ts';
import { countMembers, insertMember, isMember } from './members.sql.ts';
import { createOidcClient, type OidcFlow, type OidcIdentity, OidcRefusal } from './oidc-client.ts';
import { openLink } from './invitations.ts';
import type { PeopleParts } from './people-parts.ts';
import { clearPassword, insertPerson, lockPersonWithEmail, type Person } from './people.sql.ts';
import { beginSession, requireTurns } from './sign-in.ts';

type OidcSignIn = Pick<People, 'signInMethods' | 'beginOidc' | 'finishOidc'>;

/** The browser keeps a flow before it is known who signs in: it is of no account. */
const SEALED_FOR = 'oidc';
const CALLBACK_PATH = '/oauth/sign-in/callback';

/** How people sign in at the operator's provider. */
export function createOidcSignIn(parts: PeopleParts): OidcSignIn {
  const { sql, sealer, oidc, mailer, publicUrl } = parts;
  const client = oidc && createOidcClient(oidc, `${publicUrl}${CALLBACK_PATH}`);
  const requireProvider = () => {
    if (client === undefined)
      throw new HeadwaterError('NOT_FOUND', 'This server has no provider for sign-in. Use an address and a password.');
    return client;
  };
  return {
    signInMethods: () => ({
      passwordReset: mailer.isConfigured,
      ...(oidc === undefined ? {} : { oidc: { name: oidc.name ?? new URL(oidc.issuer).hostname } }),
    }),
    async beginOidc({ from = '/', invitation }) {
      const provider = requireProvider();
      // Refuses a link that does not work before the redirect, with the error of accept().
      if (invitation !== undefined) await openLink(parts, invitation);
      const { url, flow } = await provider.begin(from);
      return { url, flow: sealer.seal(SEALED_FOR, JSON.stringify({ ...flow, invitation })) };
    },
    async finishOidc({ flow: sealed, parameters }, browser, around = (_, made) => made()) {
      const flow = openFlow(parts, sealed);
      await requireTurns(sql, undefined, browser.address);
      const identity = await requireProvider().finish(flow, parameters);
      const invitation = flow.invitation === undefined ? undefined : await findInvited(sql, flow.invitation);
      const entering = () => sql.begin((tx) => enter(tx, identity, flow.invitation, browser));
      const entered = await (invitation === undefined ? entering() : around(invitation, entering));
      const { bearer, personId, userId } = entered;
      // One whose password another had made is somebody else's from now on.
      parts.cache.forgetWhere(({ member }) => member?.personId === personId);
      const who = await parts.authenticate(bearer);
      if (who === undefined) throw notInvited(identity);
      const joined = userId === undefined ? undefined : invitation?.accountId;
      return { bearer, who, from: flow.from, ...(joined === undefined ? {} : { joined }) };
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
  /** The person in the account that it joined. */
  userId?: string;
}

/** The person with this address, who joins the account of the invitation with which this began. */
async function enter(
  tx: Transaction,
  identity: OidcIdentity,
  token: string | undefined,
  client: SignInClient,
): Promise<Entered> {
  const { email } = identity;
  const invitation = token === undefined ? undefined : await lockInvited(tx, token, email);
  const known = await lockPersonWithEmail(tx, email);
  // Anybody who had a link can have made this person. The provider proves the address.
  if (known?.isVerified === false) await clearPassword(tx, known.id);
  if (known === undefined && invitation === undefined) throw notInvited(identity);
  const person = known ?? newPerson(identity);
  if (known === undefined && !(await insertPerson(tx, person)))
    throw new OidcRefusal('failed', 'This person has just been made');
  const userId = invitation === undefined ? undefined : await join(tx, invitation, person);
  const bearer = await beginSession(tx, { id: person.id }, client);
  return { bearer, personId: person.id, ...(userId === undefined ? {} : { userId }) };
}

function newPerson({ email, name: given }: OidcIdentity): Person {
  const name = (given ?? email.split('@')[0] ?? email).slice(0, LIMITS.maxNameChars).replaceAll('\0', '');
  return { id: newId('person'), email, name: name.toWellFormed(), isVerified: true };
}

async function findInvited(sql: Sql | Transaction, token: string): Promise<StoredInvitation> {
  const invitation = await findInvitation(sql, hashToken(token));
  if (invitation === undefined) throw invitationEnded();
  return invitation;
}

/** Takes the lock of its account, which comes before that of the person, as everywhere. */
async function lockInvited(tx: Transaction, token: string, email: string): Promise<StoredInvitation> {
  const invitation = await findInvited(tx, token);
  if (invitation.email !== email)
    throw new OidcRefusal('other_address', `The invitation is for ${invitation.email}, and this is ${email}`);
  await lockAccount(tx, invitation.accountId);
  return invitation;
}

/** The person joins this account alone, and not others that have invited the address. */
async function join(tx: Transaction, invitation: StoredInvitation, person: Person): Promise<string | undefined> {
  const { id, accountId, role, email } = invitation;
  if (await isMember(tx, accountId, email)) return undefined;
  if ((await countMembers(tx, accountId)) >= LIMITS.maxMembers)
    throw new OidcRefusal('full', `The account ${accountId} has as many members as it may`);
  if (!(await deleteInvitation(tx, accountId, id))) throw invitationEnded();
  const userId = newId('user');
  await insertMember(tx, { userId, accountId, personId: person.id, name: person.name, role });
  if (role === 'owner') await deleteOwnerInvitationsOfKeys(tx, accountId);
  return userId;
}

function notInvited({ email }: OidcIdentity): OidcRefusal {
  return new OidcRefusal('not_invited', `${email} belongs to no account here, and came without an invitation`);
}

function invitationEnded(): OidcRefusal {
  return new OidcRefusal('invitation_ended', 'The invitation was used or revoked, or has expired');
}
