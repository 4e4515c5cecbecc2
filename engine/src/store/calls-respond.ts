import type { Sql } from './database.ts';

/** A larger bundle is not looked through: a workflow has a hundred steps, each of which may have 24 MB. Its owner can say `custom_response`. */
const MAX_BUNDLE_BYTES = 1024 * 1024;

/**
 * Whether the code of one of these components calls `$.respond`, by the text that runs: the bundler leaves out comments and spaces,
 * and has `$2` where the file has a `$` of its own besides.
 */
export async function callsRespond(sql: Sql, accountId: string, componentIds: readonly string[]): Promise<boolean> {
  const rows = await sql`
    select from components where account_id = ${accountId} and id = any(${[...componentIds]}::text[])
      and case when octet_length(bundle) <= ${MAX_BUNDLE_BYTES}
        then strpos(bundle, '$.respond(') > 0 or strpos(bundle, '$2.respond(') > 0 else false end
    limit 1`;
  return rows.length > 0;
}
