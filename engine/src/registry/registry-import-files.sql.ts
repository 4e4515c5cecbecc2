import { createGiveWay } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';

/**
 * A turn of an import. Only a claim begins another, so a node that lost the import to one, as it
 * stalled, writes no more to it.
 */
export interface ImportTurn {
  id: string;
  /** When it was claimed, as the database says it. */
  turnAt: string;
}

export interface ImportFile {
  path: string;
  /** Null if it is larger than the maximum code of a component. */
  text: string | null;
  bytes: number;
  isComponent: boolean;
}

/** Sent in one statement. Before the next one the thread is free for other work. */
const BATCH_FILES = 32;
const BATCH_BYTES = 256 * 1024;

export async function insertImportFiles(
  tx: Transaction,
  importId: string,
  files: readonly ImportFile[],
): Promise<void> {
  const giveWay = createGiveWay();
  const insert = ({ path, text, bytes, isComponent }: ImportFile) => tx`
    insert into registry_import_files (import_id, path, text, bytes, is_component)
    values (${importId}, ${path}, ${text}, ${bytes}, ${isComponent})`;
  for (let at = 0; at < files.length; ) {
    const from = at;
    let bytes = 0;
    while (at < files.length && at - from < BATCH_FILES && bytes < BATCH_BYTES) bytes += files[at++]?.bytes ?? 0;
    await Promise.all(files.slice(from, at).map((file) => insert(file)));
    await giveWay();
  }
}

export interface BegunComponent {
  path: string;
  attempts: number;
  /** Since packages were first unavailable for it; 0 if they were available. */
  waitedMs: number;
}

/**
 * Counts an attempt at the first component that is not through, one that waits for nothing before
 * those that do; undefined where all are, or the turn was lost.
 */
export async function beginComponent(
  sql: Sql,
  { id: importId, turnAt }: ImportTurn,
): Promise<BegunComponent | undefined> {
  const [row] = await sql<BegunComponent[]>`
    update registry_import_files set attempts = attempts + 1
    where import_id = ${importId} and path = (
      select f.path from registry_import_files f
      where f.import_id = ${importId} and f.is_component and not exists (
        select from registry_import_results r where r.import_id = f.import_id and r.path = f.path)
      order by f.waits_since nulls first, f.path limit 1)
      and exists (select from registry_imports where id = ${importId} and turn_at = ${turnAt}::text::timestamptz)
    returning path, attempts, coalesce(extract(epoch from now() - waits_since)::float8 * 1000, 0) as "waitedMs"`;
  return row;
}

/**
 * For an attempt that found no room, or no packages: it does not count, whichever node has the
 * import by now.
 */
export async function uncountAttempt(
  sql: Sql,
  { importId, path, waitsForPackages }: { importId: string; path: string; waitsForPackages: boolean },
): Promise<void> {
  await sql`
    update registry_import_files set attempts = attempts - 1,
      waits_since = case when ${waitsForPackages} then coalesce(waits_since, now()) else waits_since end
    where import_id = ${importId} and path = ${path}`;
}

/** Bytes, by path, of those files that are there. */
export async function readImportSizes(
  sql: Sql,
  importId: string,
  paths: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ path: string; bytes: number }[]>`
    select path, bytes from registry_import_files
    where import_id = ${importId} and path = any(${[...paths]}::text[])`;
  return new Map(rows.map(({ path, bytes }) => [path, bytes]));
}

export async function readImportTexts(
  sql: Sql,
  importId: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ path: string; text: string }[]>`
    select path, text from registry_import_files
    where import_id = ${importId} and path = any(${[...paths]}::text[]) and text is not null`;
  return new Map(rows.map(({ path, text }) => [path, text]));
}

/** The longest paths first, of those of at most `maxBytes`, and no more than `maxFiles` of them. */
export async function readNearestTexts(
  sql: Sql,
  importId: string,
  paths: readonly string[],
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select text from registry_import_files
    where import_id = ${importId} and path = any(${[...paths]}::text[]) and text is not null and bytes <= ${maxBytes}
    order by length(path) desc limit ${maxFiles}`;
  return rows.map(({ text }) => text);
}
