import { newId } from '@headwater/shared';
import type { AppDefinition } from '../../contract/app-definition.ts';
import type { Sql } from '../../db/database.ts';

/** Adds the apps that are missing and brings those up to date that no operator has changed. */
export async function seedApps(sql: Sql, definitions: readonly AppDefinition[]): Promise<void> {
  const rows = definitions.map((definition) => ({ id: newId('app'), slug: definition.slug, definition }));
  await sql`
    insert into apps (id, slug, definition)
    select id, slug, definition from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as given (id text, slug text, definition jsonb)
    on conflict (slug) do update set definition = excluded.definition, updated_at = now()
    where not apps.is_changed and apps.definition <> excluded.definition`;
}
