import type { AppDefinition } from '../../contract/app-definition.ts';
import type { Sql } from '../../db/database.ts';

/** False where the slug is taken. */
export async function insertApp(sql: Sql, id: string, definition: AppDefinition): Promise<boolean> {
  const rows = await sql`
    insert into apps (id, slug, definition, is_changed)
    values (${id}, ${definition.slug}, ${JSON.stringify(definition)}::text::jsonb, true)
    on conflict (slug) do nothing returning id`;
  return rows.length > 0;
}

/** From now on the catalogue of the code leaves it as it is. */
export async function replaceApp(sql: Sql, id: string, definition: AppDefinition): Promise<void> {
  await sql`
    update apps set definition = ${JSON.stringify(definition)}::text::jsonb, is_changed = true, updated_at = now()
    where id = ${id}`;
}
