import { hasRight, HeadwaterError, notFound, type Right, type Role } from '@headwater/shared';
import { lockAccount } from '../accounts/index.ts';
import type { MemberRecord, People, Principal } from '../contract/index.ts';
import type { Transaction } from '../db/index.ts';
import { deleteInvitationsOf, deleteOwnerInvitationsOfKeys } from './invitations.sql.ts';
import {
  deleteMember,
  hasLastingKey,
  hasOwner,
  readAccountMembers,
  readRole,
  readUsersOf,
  updateRole,
} from './members.sql.ts';
import type { PeopleParts } from './people-parts.ts';

/** Members of an account, and what each is. */
export function createMembers({ sql, cache }: PeopleParts): Pick<People, 'members' | 'usersOf' | 'setRole' | 'remove'> {
  const forget = (accountId: string, userId: string) =>
    cache.forgetWhere((one) => one.accountId === accountId && one.userId === userId);

  async function read(accountId: string, id: string): Promise<MemberRecord> {
    const [member] = await readAccountMembers(sql, accountId, id);
    if (member === undefined) throw notFound('member', id);
    return member;
  }

  return {
    members: ({ accountId }) => readAccountMembers(sql, accountId),
    usersOf: async ({ member }) => (member === undefined ? [] : readUsersOf(sql, member.personId)),
    async setRole(who, id, role) {
      const { accountId } = who;
      await sql.begin(async (tx) => {
        const before = await checkChange(tx, who, id, role);
        if (before === role) return;
        await updateRole(tx, accountId, id, role);
        await deleteInvitationsOf(tx, accountId, id);
        if (role === 'owner') await deleteOwnerInvitationsOfKeys(tx, accountId);
      });
      forget(accountId, id);
      return read(accountId, id);
    },
    async remove(who, id, { revokeKeys }) {
      const { accountId } = who;
      const revoked = await sql.begin(async (tx) => {
        await checkChange(tx, who, id, undefined);
        if (revokeKeys && !(await mayNow(tx, who, 'keys'))) throw roleChanged();
        await deleteInvitationsOf(tx, accountId, id);
        const hashes = await deleteMember(tx, accountId, id, revokeKeys);
        if (hashes.length > 0 && !(await hasOwner(tx, accountId)) && !(await hasLastingKey(tx, accountId)))
          throw new HeadwaterError('CONFLICT', LAST_KEYS);
        return hashes;
      });
      for (const hash of revoked) cache.forget(hash);
      forget(accountId, id);
    },
  };
}

/** `next` undefined: the member is removed. Answers the role of before. */
async function checkChange(tx: Transaction, who: Principal, id: string, next: Role | undefined): Promise<Role> {
  const { accountId } = who;
  const hasOther = await hasOwner(tx, accountId, id.includes('\0') ? '' : id);
  const before = id.includes('\0') ? undefined : await readRole(tx, accountId, id);
  if (before === undefined) throw notFound('member', id);
  const isLeaving = next === undefined && who.member !== undefined && id === who.userId;
  if (!isLeaving && !(await mayNow(tx, who, 'members'))) throw roleChanged();
  const isOfOwners = before === 'owner' || next === 'owner';
  if (isOfOwners && !(await mayChangeOwners(tx, who))) throw ownersOnly();
  if (before === 'owner' && next !== 'owner' && !hasOther)
    throw new HeadwaterError('CONFLICT', `${id} is the last owner of the account. Make another member an owner first.`);
  return before;
}

/**
 * An owner may, and an API key as long as there is no owner: somebody has to be the first one.
 * Later a key may not, or every admin could make one that does what only owners may.
 */
export async function mayChangeOwners(tx: Transaction, who: Principal): Promise<boolean> {
  return who.member === undefined ? !(await hasOwner(tx, who.accountId)) : mayNow(tx, who, 'owners');
}

/**
 * Whether a member has the right at this moment, under the account's lock. The principal may be
 * five seconds old on another node, and what it makes would stay.
 */
export async function mayNow(
  tx: Transaction,
  { accountId, userId, member }: Principal,
  right: Right,
): Promise<boolean> {
  if (member === undefined) return true;
  await lockAccount(tx, accountId);
  const role = await readRole(tx, accountId, userId);
  return role !== undefined && hasRight(role, right);
}

const LAST_KEYS =
  "These are the account's last API keys that may do everything, and it has no owner. Make another key first.";

export function roleChanged(): HeadwaterError {
  return new HeadwaterError('FORBIDDEN', 'Your role in this account does not include this');
}

export function ownersOnly(): HeadwaterError {
  return new HeadwaterError('FORBIDDEN', 'Only an owner of the account may invite, change or remove owners');
}
