import { newId, randomToken } from '@headwater/shared';
import type { Sql, Transaction } from './database.ts';

export interface NewSource {
  accountId: string;
  userId: string;
  componentId: string;
  name: string;
  nameSlug: string;
  /** JSON object; secrets are sealed in it. */
  configuredProps: Record<string, unknown>;
  httpProps: readonly HttpProp[];
  /** The source is nobody's to see until this lease ends with its deployment. */
  busySeconds: number;
}

export interface HttpProp {
  name: string;
  customResponse: boolean;
}

const ENDPOINT_KEY_CHARS = 24;

/** Inserts the source with its endpoints, so that its hooks can read them; `deployed_at` stays null until they are through. */
export async function createSource(sql: Sql, source: NewSource): Promise<string> {
  const id = newId('source');
  await sql.begin(async (tx) => {
    await tx`
      insert into sources (id, account_id, user_id, component_id, name, name_slug, configured_props, busy_until)
      values (${id}, ${source.accountId}, ${source.userId}, ${source.componentId}, ${source.name}, ${source.nameSlug},
        ${JSON.stringify(source.configuredProps)}::text::jsonb, now() + make_interval(secs => ${source.busySeconds}))`;
    await tx`insert into emitter_state (emitter_id, account_id) values (${id}, ${source.accountId})`;
    await putEndpoints(tx, source.accountId, id, source.httpProps);
  });
  return id;
}

/** One key for each HTTP prop: props that stay keep theirs, props that are gone lose it. */
export async function putEndpoints(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  props: readonly HttpProp[],
): Promise<void> {
  await tx`
    delete from endpoints where source_id = ${sourceId} and prop_name <> all(${props.map((prop) => prop.name)}::text[])`;
  for (const prop of props) {
    await tx`
      insert into endpoints (key, account_id, source_id, prop_name, custom_response)
      values (${endpointKey()}, ${accountId}, ${sourceId}, ${prop.name}, ${prop.customResponse})
      on conflict (source_id, prop_name) do update set custom_response = excluded.custom_response`;
  }
}

/** Lower case, because it is a host name's first label where a domain is set: 24 characters of 36, 124 bits. */
function endpointKey(): string {
  return randomToken(ENDPOINT_KEY_CHARS * 2)
    .toLowerCase()
    .slice(0, ENDPOINT_KEY_CHARS);
}
