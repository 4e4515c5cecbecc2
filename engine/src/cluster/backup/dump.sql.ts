import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { Transaction } from '../../db/index.ts';
import { readEncryptionKeys } from '../../secrets/index.ts';
import { type Frame, partFrame } from './backup-file.ts';

/** The first part of a backup. */
export interface BackupHead {
  madeAt: string;
  /** Those of this project that were applied, in their order. */
  migrations: { name: string; sha256: string }[];
  /** The last one of graphile-worker. */
  jobsMigration: number;
  /** Names of the keys that secrets in it are sealed with. */
  encryptionKeys: string[];
}

interface TablePart {
  /** Quoted, with its schema. */
  table: string;
  columns: string[];
}

/** The last part. Sequences are read after the rows, so none is behind a value in use. */
export interface EndPart {
  sequences: { name: string; lastValue: string }[];
  rows: number;
}

type NextFrame = () => Promise<Frame | undefined>;

/** Rows are put together to about so many bytes: one at a time would be a frame each. */
const FRAME_BYTES = 65_536;
const LINE_FEED = 0x0a;

/**
 * All of the database, as one transaction sees it, in frames of about FRAME_BYTES. Registered nodes
 * are among them: a start releases what they held, as after a crash.
 */
export async function* dumpDatabase(tx: Transaction, encryptionKeys: readonly string[]): AsyncGenerator<Frame> {
  const head = await readHead(tx);
  yield partFrame({ ...head, encryptionKeys: [...new Set([...head.encryptionKeys, ...encryptionKeys])] });
  let rows = 0;
  for (const part of await readTables(tx)) {
    yield partFrame(part);
    const columns = part.columns.join(', ');
    const lines = await tx.unsafe(`copy ${part.table} (${columns}) to stdout`).readable();
    let held: Buffer[] = [];
    let bytes = 0;
    for await (const text of lines as AsyncIterable<Buffer>) {
      rows += countLines(text);
      held.push(text);
      bytes += text.length;
      if (bytes < FRAME_BYTES) continue;
      yield { kind: 'rows', content: Buffer.concat(held) };
      held = [];
      bytes = 0;
    }
    if (bytes > 0) yield { kind: 'rows', content: Buffer.concat(held) };
  }
  yield partFrame({ sequences: await readSequences(tx), rows } satisfies EndPart);
}

/** Each row ends in a line feed, and has none in it. */
function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}

async function readHead(tx: Transaction): Promise<BackupHead> {
  const migrations = await tx<{ name: string; sha256: string }[]>`
    select name, sha256 from headwater_migrations order by name`;
  return {
    madeAt: new Date().toISOString(),
    migrations: [...migrations],
    jobsMigration: await readJobsMigration(tx),
    encryptionKeys: await readEncryptionKeys(tx),
  };
}

export async function readJobsMigration(tx: Transaction): Promise<number> {
  const [row] = await tx<{ id: number }[]>`select max(id)::int as id from graphile_worker.migrations`;
  return row?.id ?? 0;
}

/** Unlogged tables hold what no crash keeps either, and migrations are applied anew. */
async function readTables(tx: Transaction): Promise<TablePart[]> {
  return tx<TablePart[]>`
    select format('%I.%I', n.nspname, c.relname) as "table",
      (select array_agg(quote_ident(attname) order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'graphile_worker') and c.relkind = 'r' and c.relpersistence = 'p'
      and c.oid not in ('headwater_migrations'::regclass, 'graphile_worker.migrations'::regclass)
    order by 1`;
}

async function readSequences(tx: Transaction): Promise<EndPart['sequences']> {
  return tx<EndPart['sequences']>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as "lastValue"
    from pg_sequences
    where schemaname in ('public', 'graphile_worker') and last_value is not null order by 1`;
}

/**
 * Fills a database that has the migrations of the backup. Nothing fires or is checked meanwhile:
 * the rows are those of one moment of a database that was checked.
 */
export async function loadDump(tx: Transaction, next: NextFrame): Promise<EndPart> {
  await tx`set local session_replication_role = replica`;
  const known = new Map((await readTables(tx)).map(({ table, columns }) => [table, new Set(columns)]));
  await tx.unsafe(`truncate ${[...known.keys()].join(', ')}`);
  let frame = await next();
  while (frame !== undefined) {
    const part = JSON.parse(frame.content.toString()) as TablePart | EndPart;
    if ('rows' in part) {
      for (const { name, lastValue } of part.sequences)
        await tx`select setval(${name}::regclass, ${lastValue}::bigint)`;
      return part;
    }
    // Names become SQL, and the file may have been written by a stranger.
    const columns = known.get(part.table);
    if (columns === undefined || !part.columns.every((name) => columns.has(name)))
      throw new Error(`The backup has rows of ${part.table} that its migrations do not make`);
    const into = await tx.unsafe(`copy ${part.table} (${part.columns.join(', ')}) from stdin`).writable();
    frame = await fill(into, next);
    // The client forgets a failure that comes after the last row; the next statement knows of it.
    await tx`select`;
  }
  throw new Error('The backup has no end');
}

/** Answers the frame after the rows. */
async function fill(into: Writable, next: NextFrame): Promise<Frame | undefined> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  into.on('error', failed.reject);
  let frame = await next();
  for (; frame?.kind === 'rows'; frame = await next()) {
    const { content } = frame;
    const written = new Promise<void>((resolve, reject) => {
      into.write(content, (error) => (error ? reject(error) : resolve()));
    });
    await Promise.race([written, failed.promise]);
  }
  into.end();
  // The end is sent in this turn, and so before the next statement.
  await nextTurn();
  return frame;
}
