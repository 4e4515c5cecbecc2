import { and, desc, eq, or } from 'drizzle-orm';
import type { ComponentRecord } from '../contract.ts';
import type { Database } from './database.ts';
import { components } from './schema.ts';

/** By id, or the one saved last with that key. */
export async function readComponent(
  db: Database,
  accountId: string,
  idOrKey: string,
): Promise<ComponentRecord | undefined> {
  if (idOrKey.includes('\0')) return undefined;
  const rows = await db.orm
    .select()
    .from(components)
    .where(and(eq(components.accountId, accountId), or(eq(components.id, idOrKey), eq(components.key, idOrKey))))
    .orderBy(desc(components.createdAt), desc(components.id))
    .limit(1);
  return rows[0] && componentRecord(rows[0]);
}

export function componentRecord(row: typeof components.$inferSelect): ComponentRecord {
  return {
    id: row.id,
    name: row.name,
    ...(row.key === null ? {} : { key: row.key }),
    version: row.version,
    type: row.type,
    ...(row.description === null ? {} : { description: row.description }),
    code: row.code,
    codeHash: row.codeHash,
    ...(row.dedupe === null ? {} : { dedupe: row.dedupe }),
    configurableProps: row.configurableProps,
    dependencies: row.dependencies,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
