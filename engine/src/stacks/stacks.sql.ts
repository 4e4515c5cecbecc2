import type { StackResource } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

export interface StackRow {
  name: string;
  resources: StackResource[];
  held_until_ms: number | null;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql | Transaction) => sql`
  name, resources, extract(epoch from case when held_until > now() then held_until end)::float8 * 1000 as held_until_ms,
  extract(epoch from created_at)::float8 * 1000 as created_ms,
  extract(epoch from updated_at)::float8 * 1000 as updated_ms`;

export async function listStacks(sql: Sql, accountId: string): Promise<StackRow[]> {
  return sql<StackRow[]>`select ${columns(sql)} from stacks where account_id = ${accountId} order by name`;
}

export async function readStack(sql: Sql, accountId: string, name: string): Promise<StackRow | undefined> {
  const [row] = await sql<StackRow[]>`
    select ${columns(sql)} from stacks where account_id = ${accountId} and name = ${name}`;
  return row;
}

export interface StackChange {
  accountId: string;
  name: string;
  /** Absent: those of before. */
  resources?: readonly StackResource[] | undefined;
  holder: string;
  /** 0: afterwards the stack has no holder. */
  holdSeconds: number;
}

/** Makes the stack or changes it, unless another holder has it. */
export async function putStack(
  sql: Sql,
  { accountId, name, resources, holder, holdSeconds }: StackChange,
  maxStacks: number,
): Promise<{ kind: 'put'; row: StackRow } | { kind: 'held' } | { kind: 'full'; stacks: number }> {
  return sql.begin(async (tx) => {
    // Two that are made at the same time are counted one after the other.
    await tx`select id from accounts where id = ${accountId} for no key update`;
    const [known] = await tx<{ stacks: number; has: boolean }[]>`
      select count(*)::int as stacks, coalesce(bool_or(name = ${name}), false) as has from stacks
      where account_id = ${accountId}`;
    const { stacks = 0, has = false } = known ?? {};
    if (!has && stacks >= maxStacks) return { kind: 'full', stacks };
    const json = resources === undefined ? null : JSON.stringify(resources);
    const isHeld = holdSeconds > 0;
    const until = isHeld ? tx`now() + make_interval(secs => ${holdSeconds})` : tx`null::timestamptz`;
    const [row] = await tx<StackRow[]>`
      insert into stacks as s (account_id, name, resources, holder, held_until)
      values (${accountId}, ${name}, coalesce(${json}::text::jsonb, '[]'::jsonb), ${isHeld ? holder : null}, ${until})
      on conflict (account_id, name) do update set holder = excluded.holder, held_until = excluded.held_until,
        resources = coalesce(${json}::text::jsonb, s.resources), updated_at = now()
      where s.holder is null or s.holder = ${holder} or s.held_until < now()
      returning ${columns(tx)}`;
    return row === undefined ? { kind: 'held' } : { kind: 'put', row };
  });
}

export async function deleteStack(sql: Sql, accountId: string, name: string): Promise<boolean> {
  const rows = await sql`delete from stacks where account_id = ${accountId} and name = ${name} returning name`;
  return rows.length > 0;
}
