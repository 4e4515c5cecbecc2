import type { Membership, UserRecord } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

interface Row {
  username: string;
  email: string | null;
  account_name: string;
  sources: number;
  workflows: number;
  webhooks: number;
  subscriptions: number;
}

export async function readUser(
  sql: Sql,
  accountId: string,
  userId: string,
): Promise<Omit<UserRecord, 'limits' | 'memberships'> | undefined> {
  const [row] = await sql<Row[]>`
    select u.username, coalesce(p.email, u.email) as email, a.name as account_name,
      (select count(*)::int4 from sources s
        where s.account_id = a.id and s.deleted_at is null and s.deployed_at is not null) as sources,
      (select count(*)::int4 from emitters p
        where p.account_id = a.id and p.kind = 'workflow' and p.deleted_at is null) as workflows,
      (select count(*)::int4 from webhooks w where w.account_id = a.id) as webhooks,
      (select count(*)::int4 from subscriptions b where b.account_id = a.id)
        + (select count(*)::int4 from auto_subscriptions b where b.account_id = a.id) as subscriptions
    from users u join accounts a on a.id = u.account_id
    left join memberships m on m.user_id = u.id left join people p on p.id = m.person_id
    where u.account_id = ${accountId} and u.id = ${userId}`;
  return (
    row && {
      id: userId,
      username: row.username,
      ...(row.email !== null && { email: row.email }),
      account: { id: accountId, name: row.account_name },
      usage: {
        sources: row.sources,
        workflows: row.workflows,
        webhooks: row.webhooks,
        subscriptions: row.subscriptions,
      },
    }
  );
}

/** The accounts of a person, by name. */
export async function readMemberships(sql: Sql, personId: string): Promise<Membership[]> {
  return sql<Membership[]>`
    select a.id, a.name, m.role from memberships m join accounts a on a.id = m.account_id and a.deleted_at is null
    where m.person_id = ${personId} order by a.name, a.id`;
}
