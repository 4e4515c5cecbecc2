import type { AccountLimits, ExceededLimit } from '@headwater/shared';
import { overLimit } from './over-limit.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { deleteUnusedCode } from './delete-account.sql.ts';
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
