import type { ComponentRecord, ComponentSummary } from '../contract/index.ts';
import { and, components, type Database, desc, eq, getTableColumns, inArray, isNull, or, sql } from '../db/index.ts';

/**
 * Omits the columns that only a run reads: up to 24 MB, which would block the node's thread on
 * every read.
 */
const { bundle: _, sourceMap: __, ...recordColumns } = getTableColumns(components);
/** Without code: a page of it could have a hundred megabytes. */
const { code: ___, configurableProps: ____, ...summaryColumns } = recordColumns;

type RecordRow = Omit<typeof components.$inferSelect, 'bundle' | 'sourceMap'>;
type SummaryRow = Omit<RecordRow, 'code' | 'configurableProps'>;

/** Those of `ids` that are the account's, in no order. */
export async function readComponentSummaries(
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ComponentSummary[]> {
  const rows = await db.orm
    .select(summaryColumns)
    .from(components)
    .where(and(eq(components.accountId, accountId), inArray(components.id, [...ids]), isNull(components.deletedAt)));
  return rows.map(componentSummary);
}

/**
 * By id, or by key: the one published last, else the draft saved last. `version` narrows both.
 * Copies from the registry have no key here: they would hide its newer versions.
 */
export async function readComponent(
  db: Database,
  accountId: string,
  idOrKey: string,
  version?: string,
): Promise<ComponentRecord | undefined> {
  if (idOrKey.includes('\0') || version?.includes('\0')) return undefined;
  const isNamed = and(eq(components.key, idOrKey), isNull(components.registryId));
  const rows = await db.orm
    .select(recordColumns)
    .from(components)
    .where(
      and(
        eq(components.accountId, accountId),
        isNull(components.deletedAt),
        or(eq(components.id, idOrKey), isNamed),
        version === undefined ? undefined : eq(components.version, version),
      ),
    )
    .orderBy(sql`${components.publishedAt} desc nulls last`, desc(components.createdAt), desc(components.id))
    .limit(1);
  return rows[0] && componentRecord(rows[0]);
}

interface SameComponent {
  name: string;
  key?: string;
  version: string;
  codeHash: string;
  bundleHash: string;
  codeUrl?: string;
  /** The id of a component. */
  before?: string;
}

/**
 * The same code of the same version, with the same packages, saved before under that key; without a
 * key, as `before`.
 */
export async function readSameComponent(
  db: Database,
  accountId: string,
  wanted: SameComponent,
): Promise<ComponentRecord | undefined> {
  const { name, key, version, codeHash, bundleHash, codeUrl, before } = wanted;
  if ((key ?? before) === undefined) return undefined;
  const isOld = and(isNull(components.key), eq(components.name, name), eq(components.id, before ?? ''));
  const rows = await db.orm
    .select(recordColumns)
    .from(components)
    .where(
      and(
        eq(components.accountId, accountId),
        isNull(components.deletedAt),
        isNull(components.registryId),
        key === undefined ? isOld : eq(components.key, key),
        eq(components.version, version),
        eq(components.codeHash, codeHash),
        eq(components.bundleHash, bundleHash),
        codeUrl === undefined ? isNull(components.codeUrl) : eq(components.codeUrl, codeUrl),
      ),
    )
    .orderBy(sql`${components.publishedAt} desc nulls last`, desc(components.createdAt), desc(components.id))
    .limit(1);
  return rows[0] && componentRecord(rows[0]);
}

function componentRecord(row: RecordRow): ComponentRecord {
  return { ...componentSummary(row), code: row.code, configurableProps: row.configurableProps };
}

function componentSummary(row: SummaryRow): ComponentSummary {
  return {
    id: row.id,
    name: row.name,
    ...(row.key === null ? {} : { key: row.key }),
    version: row.version,
    type: row.type,
    ...(row.description === null ? {} : { description: row.description }),
    codeHash: row.codeHash,
    ...(row.codeUrl === null ? {} : { codeUrl: row.codeUrl }),
    ...(row.dedupe === null ? {} : { dedupe: row.dedupe }),
    hasAdditionalProps: row.hasAdditionalProps,
    dependencies: row.dependencies,
    ...(row.publishedAt === null ? {} : { publishedAt: row.publishedAt }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
