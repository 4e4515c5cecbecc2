import type { AccountLimits, ExceededLimit } from '@headwater/shared';
import { overLimit } from './over-limit.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { jsonBytes, lockAccount } from './require-room.sql.ts';

export type CodeLimits = Pick<AccountLimits, 'maxComponents' | 'maxCodeBytes'>;

/**
 * Bytes of source text, bundle, source map and prop definitions. Definitions count because a few
 * bytes of code can generate megabytes of them.
 */
export function codeBytes({ code, bundle, props }: StoredCode): number {
  return (
    Buffer.byteLength(code) + Buffer.byteLength(bundle.code) + Buffer.byteLength(bundle.sourceMap) + jsonBytes(props)
  );
}

interface StoredCode {
  code: string;
  bundle: { code: string; sourceMap: string };
  props: unknown;
}

/**
 * The same of rows. Postgres knows the sizes without reading the values, and of text as it was
 * before it was compressed.
 */
export const codeBytesOfRow = (sql: Sql | Transaction) => sql`(
  octet_length(code) + octet_length(bundle) + coalesce(octet_length(source_map), 0) + pg_column_size(configurable_props)
)`;

/**
 * Does `insert`, which adds a component with `bytes` of code, where the account has room for it;
 * code that nothing uses any more makes room. Throws CONFLICT, with the limit, where that is not
 * enough.
 */
export async function insertCode<T>(
  sql: Sql,
  accountId: string,
  limits: CodeLimits,
  bytes: number,
  insert: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const attempt = () =>
    sql.begin(async (tx): Promise<{ made: T } | { exceeded: ExceededLimit }> => {
      await lockAccount(tx, accountId);
      const exceeded = await findExceeded(tx, accountId, limits, bytes);
      return exceeded === undefined ? { made: await insert(tx) } : { exceeded };
    });
  const first = await attempt();
  if ('made' in first) return first.made;
  // In its own transaction: the deletion holds even if the second attempt fails.
  const isLess = await deleteUnusedCode(sql, accountId);
  const second = isLess ? await attempt() : first;
  if ('made' in second) return second.made;
  throw overLimit(second.exceeded);
}

/**
 * Refuses early, before code is fetched, bundled and loaded, if the account has no room for even
 * one byte. Throws as `insertCode` does.
 */
export async function checkCodeRoom(sql: Sql, accountId: string, limits: CodeLimits): Promise<void> {
  if ((await findExceeded(sql, accountId, limits, 1)) === undefined) return;
  await deleteUnusedCode(sql, accountId);
  const exceeded = await findExceeded(sql, accountId, limits, 1);
  if (exceeded !== undefined) throw overLimit(exceeded);
}

async function findExceeded(
  sql: Sql | Transaction,
  accountId: string,
  { maxComponents, maxCodeBytes }: CodeLimits,
  bytes: number,
): Promise<ExceededLimit | undefined> {
  const [row] = await sql<{ components: number; bytes: number }[]>`
    select count(*) as components,
      coalesce(sum(${codeBytesOfRow(sql)}), 0)::int8 as bytes
    from components where account_id = ${accountId} and deleted_at is null`;
  const { components = 0, bytes: usedBytes = 0 } = row ?? {};
  if (components + 1 > maxComponents) return { name: 'maxComponents', value: maxComponents, used: components + 1 };
  if (usedBytes + bytes > maxCodeBytes) return { name: 'maxCodeBytes', value: maxCodeBytes, used: usedBytes + bytes };
  return undefined;
}

/**
 * So long after a source has got other code, or was deleted: nodes that have not heard of it yet
 * may still begin a run of the code before.
 */
const UNUSED_AFTER = '1 hour';

/**
 * Deletes unused code of the account that came with a source or a step, or is a copy from the
 * registry. Such code can be had again. Keeps code that a user may look for: code saved by itself,
 * published code, and the newest draft of each key and version. Returns whether it deleted any.
 */
async function deleteUnusedCode(sql: Sql, accountId: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    // As in deleteStepComponents: a transaction that uses a component in a new source or version
    // locks its row.
    const locked = await tx<{ id: string }[]>`
      select id from components c
      where account_id = ${accountId} and (of_step or registry_id is not null) and published_at is null
        and deleted_at is null and updated_at < now() - ${UNUSED_AFTER}::interval
        and (key is null or registry_id is not null or exists (
          select from components n where n.account_id = ${accountId} and n.key = c.key and n.version = c.version
            and n.deleted_at is null and n.registry_id is null and n.created_at > c.created_at
        ))
        and not exists (select from emitters s where s.component_id = c.id and s.deleted_at is null)
        and not exists (select from webhooks w where w.transform_id = c.id)
      order by id for update skip locked`;
    if (locked.length === 0) return false;
    const ids = locked.map(({ id }) => id);
    const unused = await tx<{ id: string }[]>`
      select id from components c where id = any(${ids}::text[])
        and not exists (select from emitters s where s.component_id = c.id and s.deleted_at is null)
        and not exists (select from webhooks w where w.transform_id = c.id)
        and not exists (
          select from deployments d where d.account_id = ${accountId}
            and d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
        )`;
    const gone = unused.map(({ id }) => id);
    // The rows of deleted sources name what they ran.
    await tx`
      update components c set deleted_at = now(), registry_id = null, code = '', bundle = '', source_map = null,
        bundle_hash = null
      where id = any(${gone}::text[]) and exists (select from emitters s where s.component_id = c.id)`;
    await tx`delete from components where id = any(${gone}::text[]) and deleted_at is null`;
    return gone.length > 0;
  });
}

/** Its hour begins now: the source that runs it is going to run `nextId`, or to be deleted. */
export async function noteUnusedCode(tx: Transaction, sourceId: string, nextId = ''): Promise<void> {
  await tx`
    update components set updated_at = now() where (of_step or registry_id is not null)
      and id <> ${nextId} and id = (select component_id from sources where id = ${sourceId})`;
}
