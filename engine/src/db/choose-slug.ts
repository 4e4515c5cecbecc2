import type { Transaction } from './database.ts';

interface SlugOwner {
  kind: 'source' | 'workflow';
  /** The one that is to have it; absent: it is being made. */
  id?: string;
}

/**
 * The first of `slug`, `slug-1`, `slug-2` … that no other live source (or workflow) of the account
 * has. It stays free until the transaction ends: other transactions that want such a slug wait.
 */
export async function chooseSlug(
  tx: Transaction,
  accountId: string,
  slug: string,
  { kind, id }: SlugOwner,
): Promise<string> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${accountId} ${slug}`}, 0))`;
  const rows = await tx<{ n: number }[]>`
    with taken as (
      select name_slug from emitters
      where account_id = ${accountId} and kind = ${kind} and deleted_at is null and starts_with(name_slug, ${slug})
        and id is distinct from ${id ?? null}
    ), numbered as (
      select 0 as n from taken where name_slug = ${slug}
      union all
      select substr(name_slug, length(${slug}) + 2)::int4 from taken
      where substr(name_slug, length(${slug}) + 1) ~ '^-[1-9][0-9]{0,8}$'
    )
    select coalesce(min(free.n), 0) as n from (
      select 0 as n union all select n + 1 from numbered
    ) as free where not exists (select from numbered where numbered.n = free.n)`;
  const n = rows[0]?.n ?? 0;
  return n === 0 ? slug : `${slug}-${n}`;
}
