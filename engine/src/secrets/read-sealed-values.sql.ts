import type { Sql, Transaction } from '../db/index.ts';

/** Kinds that are in archives of accounts. */
export const ARCHIVED_KINDS = [
  'connected-account',
  'deployment',
  'environment',
  'oauth-client',
  's3-settings',
  'send',
  'source',
  'step',
  'wait',
  'webhook',
  'webhook-auth',
  'webhook-client-key',
  'webhook-headers',
  'webhook-previous',
] as const;
export type ArchivedKind = (typeof ARCHIVED_KINDS)[number];

/**
 * The place of one sealed text. `id` and `prop` by kind, unless they are the id of the row and '':
 * - source: `prop` is the prop.
 * - deployment (a version of a workflow): `prop` is the step's place, from 0, a dot and the prop.
 * - environment: `id` is the account, `prop` the variable. s3-settings: `id` is the account.
 * - step (sends of an execution, in the row of its step): `id` is the execution and the step's
 *   place, `prop` counts from 1. wait (input of the step's next run): `id` is the execution.
 * - oauth-client: `prop` is the owner. idempotent-answer: `id` is the account, `prop` the key.
 */
export interface SealedValue {
  kind: ArchivedKind | 'idempotent-answer' | 'oauth-state';
  id: string;
  prop: string;
  accountId: string;
  sealed: string;
}

export interface SealedKeyUse {
  keyId: string;
  count: number;
}

/**
 * A value of this form is always sealed: configured props of this form are refused, whatever
 * `$sealed` contains. A `$sealed` that is not text was never sealed.
 */
const isSealed = (sql: Sql | Transaction) =>
  sql`jsonb_typeof(p.value) = 'object' and jsonb_typeof(p.value -> '$sealed') = 'string'`;

/** Every sealed text of the database: the one place that says which columns hold them. */
const sealedValues = (sql: Sql | Transaction) => sql`
  select 'webhook' as kind, w.id, '' as prop, w.account_id, w.secret as sealed from webhooks w
  union all
  select 'webhook-previous', w.id, '', w.account_id, w.previous_secret from webhooks w where w.previous_secret is not null
  union all
  select 'webhook-headers', w.id, '', w.account_id, w.request_headers from webhooks w where w.request_headers is not null
  union all
  select 'webhook-auth', w.id, '', w.account_id, w.request_auth from webhooks w where w.request_auth is not null
  union all
  select 'webhook-client-key', w.id, '', w.account_id, w.client_key from webhooks w where w.client_key is not null
  union all
  select 'source', s.id, p.key, s.account_id, p.value ->> '$sealed' from sources s, jsonb_each(s.configured_props) p
  where ${isSealed(sql)}
  union all
  select 'deployment', d.id, (s.place - 1) || '.' || p.key, d.account_id, p.value ->> '$sealed'
  from deployments d, jsonb_array_elements(d.steps) with ordinality as s(step, place),
    jsonb_each(s.step -> 'configuredProps') p
  where ${isSealed(sql)}
  union all
  select 'environment', v.account_id, v.name, v.account_id, v.value from environment_variables v
  union all
  select 'connected-account', a.id, '', a.account_id, a.credentials from connected_accounts a where a.credentials is not null
  union all
  select 'oauth-client', o.app_id, o.owner, o.owner, o.secret from oauth_clients o where o.secret is not null
  union all
  select 's3-settings', t.account_id, '', t.account_id, t.secret_access_key from s3_settings t
  union all
  select 'send', n.id, '', n.account_id, n.sealed from sends n where n.sealed is not null
  union all
  select 'step', x.execution_id || '/' || x.position, found.place::text, x.account_id, found.texts[1]
  from execution_steps x, regexp_matches(x.sends, '"sealed":"([^"]+)"', 'g') with ordinality as found(texts, place)
  where position('"sealed":"' in x.sends) > 0
  union all
  select 'wait', w.execution_id, '', w.account_id, w.context from execution_waits w where starts_with(w.context, 'v')
  union all
  select 'idempotent-answer', i.account_id, i.key, i.account_id, i.answer from idempotency_keys i where i.answer is not null
  union all
  select 'oauth-state', encode(f.state_hash, 'hex'), '', f.account_id, f.request from oauth_states f`;

/**
 * Sealed texts that do not begin with `prefix`, after `after` in the order of kind, id and prop.
 */
export async function readSealedValues(
  sql: Sql,
  prefix: string,
  after: Pick<SealedValue, 'kind' | 'id' | 'prop'> | undefined,
  limit: number,
): Promise<SealedValue[]> {
  const { kind, id, prop } = after ?? { kind: '', id: '', prop: '' };
  const rows = await sql<(Omit<SealedValue, 'accountId'> & { account_id: string })[]>`
    select * from (${sealedValues(sql)}) v
    where not starts_with(v.sealed, ${prefix}) and (v.kind, v.id, v.prop) > (${kind}, ${id}, ${prop})
    order by v.kind, v.id, v.prop limit ${limit}`;
  return rows.map(({ account_id: accountId, ...value }) => ({ ...value, accountId }));
}

/** All of one account, in no order. A cursor, so it needs a connection of its own. */
export async function* readSealedValuesOf(sql: Sql, accountId: string): AsyncGenerator<SealedValue> {
  const pages = sql<(Omit<SealedValue, 'accountId'> & { account_id: string })[]>`
    select * from (${sealedValues(sql)}) v where v.account_id = ${accountId}`.cursor(PAGE_VALUES);
  for await (const rows of pages)
    for (const { account_id: owner, ...value } of rows) yield { ...value, accountId: owner };
}

const PAGE_VALUES = 100;

/** Those of one account that do not begin with `prefix`. */
export async function countSealedOtherwise(tx: Transaction, accountId: string, prefix: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from (${sealedValues(tx)}) v
    where v.account_id = ${accountId} and not starts_with(v.sealed, ${prefix})`;
  return row?.count ?? 0;
}

/** Which master keys the stored secrets need, by the names in their texts. */
export async function readSealedKeyUse(sql: Sql): Promise<SealedKeyUse[]> {
  const rows = await sql<{ key_id: string; count: number }[]>`
    select split_part(v.sealed, '.', 2) as key_id, count(*)::int as count
    from (${sealedValues(sql)}) v group by 1 order by 2 desc, 1`;
  return rows.map(({ key_id: keyId, count }) => ({ keyId, count }));
}

/**
 * Changes of sources with secrets under way: the end of one may write back texts that it has read
 * before.
 */
export async function readChangesUnderWay(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select coalesce(change_id, id) as id from sources
    where busy_until > now() and jsonb_path_exists(configured_props, '$.*."$sealed"')`;
  return rows.map(({ id }) => id);
}
