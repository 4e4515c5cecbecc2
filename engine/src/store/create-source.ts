import { type AccountLimits, HeadwaterError, newId, type PropDefinition, randomToken } from '@headwater/shared';
import { chooseSlug } from './choose-slug.ts';
import type { Sql, Transaction } from './database.ts';
import { jsonBytes, requireConfigurationRoom } from './require-configuration-room.ts';
import { requireRoom } from './require-room.ts';
import { subscribeNewEmitter } from './subscribe-new-emitter.ts';

export interface NewSource {
  accountId: string;
  userId: string;
  componentId: string;
  name: string;
  /** Where another source has it, the next free one is taken. */
  nameSlug: string;
  /** JSON object; secrets are sealed in it. */
  configuredProps: Record<string, unknown>;
  dynamicProps: readonly PropDefinition[];
  httpProps: readonly HttpProp[];
  /** The source is nobody's to see until this lease ends with its deployment. */
  busySeconds: number;
  /** The node that holds this lease. */
  busyBy: string;
}

export interface HttpProp {
  name: string;
  customResponse: boolean;
}

const ENDPOINT_KEY_CHARS = 24;

type SourceLimits = Pick<AccountLimits, 'maxSources' | 'maxSubscriptions' | 'maxConfigurationBytes'>;

/**
 * Inserts the source with its endpoints, so that its hooks can read them; `deployed_at` stays null until they are through. Throws
 * CONFLICT where the account has no room for it.
 */
export async function createSource(sql: Sql, source: NewSource, limits: SourceLimits): Promise<string> {
  const id = newId('source');
  const { accountId, configuredProps, dynamicProps } = source;
  await sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxSources');
    await requireConfigurationRoom(tx, accountId, limits, jsonBytes(configuredProps, dynamicProps));
    await holdComponent(tx, accountId, source.componentId);
    const nameSlug = await chooseSlug(tx, source.accountId, source.nameSlug, { kind: 'source' });
    await tx`
      insert into sources
        (id, account_id, user_id, component_id, name, name_slug, configured_props, dynamic_props, busy_by, busy_until)
      values (${id}, ${source.accountId}, ${source.userId}, ${source.componentId}, ${source.name}, ${nameSlug},
        ${JSON.stringify(source.configuredProps)}::text::jsonb, ${JSON.stringify(source.dynamicProps)}::text::jsonb,
        ${source.busyBy}, now() + make_interval(secs => ${source.busySeconds}))`;
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
 * One key for each HTTP prop: props that stay keep theirs, props that are gone lose it. Where one is gone and one is new, it
 * was renamed: whoever calls its URL knows nothing of names.
 */
export async function putEndpoints(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  props: readonly HttpProp[],
): Promise<void> {
  await renameEndpoint(tx, sourceId, props);
  await tx`
    delete from endpoints where source_id = ${sourceId} and prop_name <> all(${props.map((prop) => prop.name)}::text[])`;
  for (const prop of props) {
    await tx`
      insert into endpoints (key, account_id, source_id, prop_name, custom_response)
      values (${endpointKey()}, ${accountId}, ${sourceId}, ${prop.name}, ${prop.customResponse})
      on conflict (source_id, prop_name) do update set custom_response = excluded.custom_response`;
  }
}

async function renameEndpoint(tx: Transaction, sourceId: string, props: readonly HttpProp[]): Promise<void> {
  const rows = await tx<{ prop_name: string }[]>`
    select prop_name from endpoints where source_id = ${sourceId} order by prop_name for update`;
  const had = rows.map((row) => row.prop_name);
  const [gone, ...moreGone] = had.filter((name) => !props.some((prop) => prop.name === name));
  const [fresh, ...moreFresh] = props.filter((prop) => !had.includes(prop.name));
  if (gone === undefined || fresh === undefined || moreGone.length + moreFresh.length > 0) return;
  await tx`update endpoints set prop_name = ${fresh.name} where source_id = ${sourceId} and prop_name = ${gone}`;
}

/** Lower case, because it is a host name's first label where a domain is set: 24 characters of 36, 124 bits. */
function endpointKey(): string {
  return randomToken(ENDPOINT_KEY_CHARS * 2)
    .toLowerCase()
    .slice(0, ENDPOINT_KEY_CHARS);
}
