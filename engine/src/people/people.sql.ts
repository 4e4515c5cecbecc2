import type { Sql, Transaction } from '../db/index.ts';

export interface Person {
  id: string;
  email: string;
  name: string;
  passwordHash?: string;
  /** The person has shown that the address is theirs. */
  isVerified: boolean;
}

interface Row {
  id: string;
  email: string;
  name: string;
  password_hash: string | null;
  is_verified: boolean;
}

const columns = (sql: Sql | Transaction) =>
  sql`id, email, name, password_hash, email_verified_at is not null as is_verified`;

function personOf(row: Row | undefined): Person | undefined {
  if (row === undefined) return undefined;
  const { id, email, name, password_hash: passwordHash, is_verified: isVerified } = row;
  return { id, email, name, isVerified, ...(passwordHash === null ? {} : { passwordHash }) };
}

/** `email`: in lower case. */
export async function findPerson(sql: Sql, email: string): Promise<Person | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from people where email = ${email}`;
  return personOf(row);
}

export async function readPerson(sql: Sql | Transaction, id: string): Promise<Person | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from people where id = ${id}`;
  return personOf(row);
}

/** Answers false where another one came first. */
export async function insertPerson(tx: Transaction, person: Person): Promise<boolean> {
  const rows = await tx`
    insert into people (id, email, name, password_hash, email_verified_at)
    values (${person.id}, ${person.email}, ${person.name}, ${person.passwordHash ?? null},
      case when ${person.isVerified} then now() end)
    on conflict (email) do nothing returning id`;
  return rows.length > 0;
}

/**
 * No other transaction deletes or changes the person until this one ends. False if it is gone, or
 * if `passwordHash` is given and another password was set since it was checked.
 */
export async function lockPerson(tx: Transaction, id: string, passwordHash?: string): Promise<boolean> {
  const hash = passwordHash ?? null;
  const rows = await tx`
    select from people where id = ${id} and (${hash}::text is null or password_hash = ${hash}::text) for no key update`;
  return rows.length > 0;
}

/** As lockPerson, by the address. */
export async function lockPersonWithEmail(tx: Transaction, email: string): Promise<Person | undefined> {
  const [row] = await tx<Row[]>`select ${columns(tx)} from people where email = ${email} for no key update`;
  return personOf(row);
}

/** The address is the person's; what was set before it was known to be ends, sessions as well. */
export async function clearPassword(tx: Transaction, personId: string): Promise<void> {
  await tx`update people set password_hash = null where id = ${personId}`;
  await tx`delete from user_sessions where person_id = ${personId}`;
  await tx`delete from password_resets where person_id = ${personId}`;
  await tx`delete from passkeys where person_id = ${personId}`;
  await markVerified(tx, personId);
}

/** Sets it for a person who has proven the address alone: nothing that signed in before does. */
export async function takeOver(tx: Transaction, personId: string, passwordHash: string): Promise<void> {
  await clearPassword(tx, personId);
  await tx`update people set password_hash = ${passwordHash} where id = ${personId}`;
}

/** Ends all sessions but `keptSessionId`, and links that would set another one. */
export async function setPassword(
  tx: Transaction,
  personId: string,
  passwordHash: string,
  keptSessionId: string,
): Promise<void> {
  await tx`update people set password_hash = ${passwordHash} where id = ${personId}`;
  await tx`delete from user_sessions where person_id = ${personId} and id <> ${keptSessionId}`;
  await tx`delete from password_resets where person_id = ${personId}`;
}

/** From now on the address is known to be the person's. */
export async function markVerified(tx: Transaction, personId: string): Promise<void> {
  await tx`update people set email_verified_at = coalesce(email_verified_at, now()) where id = ${personId}`;
}

/**
 * Deletes what has ended: sessions, invitations, links, and turns that are whole again. Answers how
 * many rows.
 */
export async function expirePeople(sql: Sql, limit: number): Promise<number> {
  const sessions = await sql`
    delete from user_sessions where id in (
      select id from user_sessions where expires_at <= now() limit ${limit} for update skip locked) returning id`;
  const invitations = await sql`
    delete from invitations where id in (
      select id from invitations where expires_at <= now() limit ${limit} for update skip locked) returning id`;
  const resets = await sql`
    delete from password_resets where token_hash in (
      select token_hash from password_resets where expires_at <= now() limit ${limit} for update skip locked)
    returning person_id`;
  const turns = await sql`
    delete from sign_in_turns where key in (
      select key from sign_in_turns where full_at <= now() limit ${limit} for update skip locked) returning key`;
  return Math.max(sessions.length, invitations.length, resets.length, turns.length);
}
