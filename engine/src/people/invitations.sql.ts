import type { Role } from '@headwater/shared';
import { lockAccount } from '../accounts/index.ts';
import type { InvitationRecord } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

export interface StoredInvitation extends InvitationRecord {
  accountId: string;
  accountName: string;
  /** The token that was given is that of the link that was mailed. */
  isMailed: boolean;
}

interface Row {
  id: string;
  account_id: string;
  account_name: string;
  email: string;
  role: Role;
  invited_by: string;
  created_ms: number;
  expires_ms: number;
  is_mailed: boolean;
}

const columns = (sql: Sql | Transaction) => sql`
  i.id, i.account_id, a.name as account_name, i.email, i.role, i.invited_by,
  extract(epoch from i.created_at)::float8 * 1000 as created_ms,
  extract(epoch from i.expires_at)::float8 * 1000 as expires_ms`;

function invitationOf(row: Row): StoredInvitation {
  return {
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: new Date(row.created_ms),
    expiresAt: new Date(row.expires_ms),
    isMailed: row.is_mailed,
  };
}

export interface InvitationRow {
  id: string;
  accountId: string;
  email: string;
  role: Role;
  tokenHash: Uint8Array;
  mailTokenHash: Uint8Array;
  invitedBy: string;
  days: number;
}

/** Instead of one for the same address. Undefined: the account has `max` others, or is gone. */
export async function putInvitation(
  tx: Transaction,
  row: InvitationRow,
  max: number,
): Promise<StoredInvitation | 'full' | 'no account'> {
  const { accountId, email } = row;
  await lockAccount(tx, accountId);
  const [account] = await tx<{ others: number }[]>`
    select (select count(*)::int4 from invitations i
      where i.account_id = a.id and i.email <> ${email} and i.expires_at > now()) as others
    from accounts a where a.id = ${accountId} and a.deleted_at is null`;
  if (account === undefined) return 'no account';
  if (account.others >= max) return 'full';
  await tx`delete from invitations where account_id = ${accountId} and email = ${email}`;
  await tx`
    insert into invitations (id, account_id, email, role, token_hash, mail_token_hash, invited_by, expires_at)
    values (${row.id}, ${accountId}, ${email}, ${row.role}, ${row.tokenHash}, ${row.mailTokenHash},
      ${row.invitedBy}, now() + make_interval(days => ${row.days}))`;
  const [made] = await tx<Row[]>`
    select ${columns(tx)}, false as is_mailed from invitations i join accounts a on a.id = i.account_id
    where i.account_id = ${accountId} and i.id = ${row.id}`;
  return made === undefined ? 'no account' : invitationOf(made);
}

/** Newest first. */
export async function readInvitations(sql: Sql, accountId: string): Promise<StoredInvitation[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)}, false as is_mailed from invitations i join accounts a on a.id = i.account_id
    where i.account_id = ${accountId} and i.expires_at > now() order by i.created_at desc, i.id desc`;
  return rows.map(invitationOf);
}

/** The account comes from the link, as whoever has it may have no account yet. */
export async function findInvitation(
  sql: Sql | Transaction,
  tokenHash: Uint8Array,
): Promise<StoredInvitation | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)}, i.mail_token_hash = ${tokenHash} as is_mailed
    from invitations i join accounts a on a.id = i.account_id and a.deleted_at is null
    where (i.token_hash = ${tokenHash} or i.mail_token_hash = ${tokenHash}) and i.expires_at > now()`;
  return row === undefined ? undefined : invitationOf(row);
}

/** Answers whether it was there: a link works once. */
export async function deleteInvitation(sql: Sql | Transaction, accountId: string, id: string): Promise<boolean> {
  return (await sql`delete from invitations where account_id = ${accountId} and id = ${id} returning id`).length > 0;
}

/** Those that a member has made. */
export async function deleteInvitationsOf(tx: Transaction, accountId: string, invitedBy: string): Promise<void> {
  await tx`delete from invitations where account_id = ${accountId} and invited_by = ${invitedBy}`;
}

/** A key may invite the first owner alone: its other links end once there is one. */
export async function deleteOwnerInvitationsOfKeys(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    delete from invitations
    where account_id = ${accountId} and role = 'owner' and starts_with(invited_by, 'key_')`;
}
