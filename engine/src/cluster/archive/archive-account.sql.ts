import { HeadwaterError, notFound } from '@headwater/shared';
import { postgresAt, type Sql, type Transaction } from '../../db/index.ts';
import { readSealedValuesOf, type Sealer, SealError } from '../../secrets/index.ts';
import { type ArchiveKeys, deriveKeys, newDerivation } from './archive-keys.ts';
import { type ArchivedSecret, type ArchiveEnd, type ArchiveHead, FORM } from './archive-lines.ts';
import { ARCHIVED, ownerOf, SECRETS_OF_HISTORY } from './archived-tables.ts';

/** Columns of each archived table that are stored, without those that the database works out. */
export async function readColumns(tx: Sql | Transaction): Promise<Map<string, string[]>> {
  const rows = await tx<{ table: string; column: string }[]>`
    select c.relname::text as "table", a.attname::text as "column"
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by c.relname, a.attnum`;
  const columns = new Map<string, string[]>(ARCHIVED.map(({ table }) => [table, []]));
  for (const { table, column } of rows) columns.get(table)?.push(column);
  return columns;
}

/** Names of the migrations that the database has. */
export async function readMigrationNames(tx: Sql | Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`select name from headwater_migrations order by name`;
  return rows.map(({ name }) => name);
}

/** Quoted for SQL that takes no parameters. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

export interface ExportOptions {
  databaseUrl: string;
  sealer: Pick<Sealer, 'open'>;
  accountId: string;
  passphrase: string;
  /** Default true. */
  withHistory?: boolean;
}

/** Lines are put together to about so many bytes. */
const PIECE_BYTES = 65_536;
const LINE_FEED = 0x0a;

/**
 * The archive of an account as one transaction sees it, in whole lines. Holds one connection, and
 * a snapshot, until it is read or left. The first piece comes when the account is known to exist.
 * Throws NOT_FOUND, CONFLICT for one that is being deleted or has a secret that does not open,
 * INVALID_REQUEST for a passphrase that is too short.
 */
export async function* archiveAccount(options: ExportOptions): AsyncGenerator<Buffer, undefined> {
  const key = newDerivation();
  const keys = await deriveKeys(options.passphrase, key);
  const sql = postgresAt(options.databaseUrl, {
    max: 1,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: 'headwater-export' },
  });
  try {
    await sql.unsafe('begin isolation level repeatable read read only');
    yield* archiveLines(sql as unknown as Sql, { ...options, key, keys });
  } finally {
    // A statement of which the rest is not wanted ends with its connection.
    await sql.end({ timeout: 0 });
  }
}

type Archiving = ExportOptions & { key: ArchiveHead['key']; keys: ArchiveKeys };

async function* archiveLines(sql: Sql, archiving: Archiving): AsyncGenerator<Buffer, undefined> {
  const backend = await backendOf(sql);
  const head = await headOf(sql, archiving);
  const mac = archiving.keys.mac();
  const counts = { rows: 0, secrets: 0 };
  for (const pieces of [[lineOf(head)], rowLines(sql, archiving, counts), secretLines(sql, archiving, counts)]) {
    for await (const piece of pieces) {
      mac.update(piece);
      yield piece;
    }
  }
  // After a reconnect the rows would come from other snapshots.
  if ((await backendOf(sql)) !== backend) throw new Error('The connection of the export was lost');
  yield lineOf({ $end: { ...counts, mac: mac.digest('hex') } satisfies ArchiveEnd });
}

async function backendOf(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid;
}

const lineOf = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

async function headOf(sql: Sql, { accountId, key }: Archiving): Promise<ArchiveHead> {
  const [account] = await sql<{ id: string; name: string; is_deleted: boolean }[]>`
    select id, name, deleted_at is not null as is_deleted from accounts where id = ${accountId}`;
  if (account === undefined) throw notFound('account', accountId);
  const { id, name } = account;
  if (account.is_deleted) throw new HeadwaterError('CONFLICT', `The account ${id} is being deleted`);
  const migrations = await readMigrationNames(sql);
  return { headwater_archive: FORM, made_at: new Date().toISOString(), account: { id, name }, migrations, key };
}

async function* rowLines(
  sql: Sql,
  { accountId, withHistory = true }: Archiving,
  counts: { rows: number },
): AsyncGenerator<Buffer> {
  const columns = await readColumns(sql);
  const account = literal(accountId);
  for (const one of ARCHIVED.filter(({ isHistory }) => withHistory || isHistory !== true)) {
    const { table, through, out = {} } = one;
    const owner = ownerOf(one);
    const values = (columns.get(table) ?? []).map((name) => `${valueOf(name, out)} as ${identifier(name)}`);
    const wheres = [
      ...(owner === null ? [] : [`t.${identifier(owner)} = ${account}`]),
      ...(through === undefined
        ? []
        : [`t.${through[0]} in (select o.id from ${through[1]} o where o.account_id = ${account})`]),
    ];
    // JSON text has no control characters: in this form of CSV it comes as it is.
    const lines = await sql
      .unsafe(
        `copy (
          select '{"${table}":' || row_to_json(r)::text || '}' from (
            select ${values.join(', ')} from ${identifier(table)} t where ${wheres.join(' and ')}
          ) r
        ) to stdout with (format csv, quote e'\\x01', delimiter e'\\x02')`,
      )
      .readable();
    yield* gather(lines as AsyncIterable<Buffer>, (bytes) => (counts.rows += countLines(bytes)));
  }
}

function valueOf(column: string, out: Readonly<Record<string, string>>): string {
  return out[column] ?? `t.${identifier(column)}`;
}

/** Each is about PIECE_BYTES or one row. */
async function* gather(rows: AsyncIterable<Buffer>, onBytes: (bytes: Buffer) => void): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const text of rows) {
    onBytes(text);
    held.push(text);
    bytes += text.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}

async function* secretLines(
  sql: Sql,
  { accountId, sealer, keys, withHistory = true }: Archiving,
  counts: { secrets: number },
): AsyncGenerator<Buffer> {
  for await (const { kind, id, prop, sealed: stored } of readSealedValuesOf(sql, accountId)) {
    // Left out of the archive as well.
    if (kind === 'idempotent-answer' || kind === 'oauth-state') continue;
    if (!withHistory && SECRETS_OF_HISTORY.has(kind)) continue;
    const place = `${kind} ${id} ${prop}`;
    const sealed = keys.seal(place, openStored(sealer, accountId, place, stored));
    counts.secrets++;
    yield lineOf({ $secret: { kind, id, prop, stored, sealed } satisfies ArchivedSecret });
  }
}

function openStored(sealer: Pick<Sealer, 'open'>, accountId: string, place: string, stored: string): string {
  try {
    return sealer.open(accountId, stored);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new HeadwaterError('CONFLICT', `The secret ${place} cannot be opened: set it again, or delete it`, { cause });
  }
}
