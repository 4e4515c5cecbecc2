import { hasRight, HeadwaterError, notFound, type Role } from '@headwater/shared';
import type { Principal } from '../contract/base.ts';
import type { MemberRecord, People } from '../contract/people.ts';
import type { Transaction } from '../db/database.ts';
import { deleteInvitationsOf } from './invitations.sql.ts';
import { deleteMember, hasOwner, readMembers, readRole, updateRole } from './members.sql.ts';
import type { PeopleParts } from './people-parts.ts';

/** Members of an account, and what each is. */
export function createMembers({ sql, cache }: PeopleParts): Pick<People, 'members' | 'setRole' | 'remove'> {
  const forget = (accountId: string, userId: string) =>
    cache.forgetWhere((one) => one.accountId === accountId && one.userId === userId);

  async function read(accountId: string, id: string): Promise<MemberRecord> {
    const [member] = await readMembers(sql, accountId, id);
    if (member === undefined) throw notFound('member', id);
    return member;
  }

  return {
    members: ({ accountId }) => readMembers(sql, accountId),
    async setRole(who, id, role) {
      const { accountId } = who;
      await sql.begin(async (tx) => {
        const before = await checkChange(tx, who, id, role);
        if (before === role) return;
        await updateRole(tx, accountId, id, role);
        await deleteInvitationsOf(tx, accountId, id);
      });
      forget(accountId, id);
      return read(accountId, id);
    },
    async remove(who, id, { revokeKeys }) {
      const { accountId } = who;
      const revoked = await sql.begin(async (tx) => {
        await checkChange(tx, who, id, undefined);
        await deleteInvitationsOf(tx, accountId, id);
        return deleteMember(tx, accountId, id, revokeKeys);
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
export async function mayChangeOwners(tx: Transaction, { accountId, member }: Principal): Promise<boolean> {
  return member === undefined ? !(await hasOwner(tx, accountId)) : hasRight(member.role, 'owners');
}

export function ownersOnly(): HeadwaterError {
  return new HeadwaterError('FORBIDDEN', 'Only an owner of the account may invite, change or remove owners');
}
