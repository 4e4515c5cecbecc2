import type { Durability, Preflight } from '../contract/index.ts';
import { type AccountLimits, HeadwaterError, newId, type PropDefinition, randomToken } from '@headwater/shared';
import type { HttpProp } from '../props/index.ts';
import { chooseSlug, type LeaseTerms, type Sql, type Transaction } from '../db/index.ts';
import { jsonBytes, requireConfigurationRoom, requireRoom } from '../accounts/index.ts';
import { subscribeNewEmitter } from '../outbox/index.ts';

export interface NewSource {
  accountId: string;
  userId: string;
  componentId: string;
  name: string;
  /** If another source has it, the next free slug is used. */
  nameSlug: string;
  /** JSON object; secrets are sealed in it. */
  configuredProps: Record<string, unknown>;
  dynamicProps: readonly PropDefinition[];
  httpProps: readonly HttpProp[];
  preflight: Preflight;
  durability: Durability;
  /** The source is invisible until this lease ends with its deployment. */
  lease: LeaseTerms;
}

const ENDPOINT_KEY_CHARS = 24;

type SourceLimits = Pick<AccountLimits, 'maxSources' | 'maxSubscriptions' | 'maxConfigurationBytes'>;

/**
 * Inserts the source with its endpoints, so that its hooks can read them; `deployed_at` stays null
 * until they are through. Throws CONFLICT where the account has no room for it.
 */
export async function createSource(sql: Sql, source: NewSource, limits: SourceLimits): Promise<string> {
  const id = newId('source');
  const { accountId, configuredProps, dynamicProps, lease } = source;
  await sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxSources');
    await requireConfigurationRoom(tx, accountId, limits, jsonBytes(configuredProps, dynamicProps));
    await holdComponent(tx, accountId, source.componentId);
    const nameSlug = await chooseSlug(tx, source.accountId, source.nameSlug, { kind: 'source' });
    await tx`
      insert into sources
        (id, account_id, user_id, component_id, name, name_slug, configured_props, dynamic_props, busy_by,
          change_id, busy_until, preflight, durability)
      values (${id}, ${source.accountId}, ${source.userId}, ${source.componentId}, ${source.name}, ${nameSlug},
        ${JSON.stringify(source.configuredProps)}::text::jsonb, ${JSON.stringify(source.dynamicProps)}::text::jsonb,
        ${lease.nodeId}, ${lease.changeId}, now() + make_interval(secs => ${lease.seconds}), ${source.preflight},
        ${source.durability})`;
    await tx`insert into emitter_state (emitter_id, account_id) values (${id}, ${source.accountId})`;
    await putEndpoints(tx, source.accountId, id, source.httpProps);
    // Before its hooks: what `deploy` emits is heard.
    await subscribeNewEmitter(tx, source.accountId, id, limits);
  });
  return id;
}

/** Against deletion, until the source is there. */
async function holdComponent(tx: Transaction, accountId: string, id: string): Promise<void> {
  const rows = await tx`
    select from components where account_id = ${accountId} and id = ${id} and deleted_at is null for key share`;
  if (rows.length === 0) throw new HeadwaterError('CONFLICT', `The component ${id} was deleted meanwhile`);
}

/**
 * One key for each HTTP prop: props that stay keep theirs, removed props lose it. One removed and
 * one new prop count as a rename, because clients of the URL do not know prop names. Takes a few
 * statements for any number of props, and writes no unchanged rows. The caller has locked the row
 * of the source or workflow against other changes.
 */
export async function putEndpoints(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  props: readonly HttpProp[],
): Promise<void> {
  const wanted: Endpoints = new Map(props.map(({ name, customResponse }) => [name, customResponse]));
  const had = await renameEndpoint(tx, sourceId, await readEndpoints(tx, sourceId), wanted);
  const gone = [...had.keys()].filter((name) => !wanted.has(name));
  if (gone.length > 0)
    await tx`delete from endpoints where source_id = ${sourceId} and prop_name = any(${gone}::text[])`;
  const changed = [...wanted].filter(([name, customResponse]) => had.get(name) !== customResponse);
  if (changed.length === 0) return;
  await tx`
    insert into endpoints (key, account_id, source_id, prop_name, custom_response)
    select put.key, ${accountId}, ${sourceId}, put.prop_name, put.custom_response::boolean from unnest(
      ${changed.map(endpointKey)}::text[], ${changed.map(([name]) => name)}::text[],
      ${changed.map(([, customResponse]) => String(customResponse))}::text[]
    ) as put(key, prop_name, custom_response)
    on conflict (source_id, prop_name) do update set custom_response = excluded.custom_response`;
}

/** Whether the code answers itself, by the name of the prop. */
type Endpoints = ReadonlyMap<string, boolean>;

async function readEndpoints(tx: Transaction, sourceId: string): Promise<Endpoints> {
  const rows = await tx<{ prop_name: string; custom_response: boolean }[]>`
    select prop_name, custom_response from endpoints where source_id = ${sourceId}`;
  return new Map(rows.map((row) => [row.prop_name, row.custom_response]));
}

/** Answers what there is then. */
async function renameEndpoint(
  tx: Transaction,
  sourceId: string,
  had: Endpoints,
  wanted: Endpoints,
): Promise<Endpoints> {
  const [gone, ...moreGone] = [...had.keys()].filter((name) => !wanted.has(name));
  const [fresh, ...moreFresh] = [...wanted.keys()].filter((name) => !had.has(name));
  if (gone === undefined || fresh === undefined || moreGone.length + moreFresh.length > 0) return had;
  await tx`update endpoints set prop_name = ${fresh} where source_id = ${sourceId} and prop_name = ${gone}`;
  return new Map([...had].map(([name, customResponse]) => [name === gone ? fresh : name, customResponse]));
}

/**
 * Lower case, because it is a host name's first label where a domain is set: 24 characters of 36,
 * 124 bits.
 */
function endpointKey(): string {
  return randomToken(ENDPOINT_KEY_CHARS * 2)
    .toLowerCase()
    .slice(0, ENDPOINT_KEY_CHARS);
}
