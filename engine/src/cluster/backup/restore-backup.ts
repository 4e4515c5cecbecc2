import { existsSync } from 'node:fs';
import path from 'node:path';
import { HeadwaterError } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';
import {
  checkKnownMigrations,
  keepFromRoot,
  migrate,
  postgresAt,
  prepareDatabase,
  type Transaction,
} from '../../db/index.ts';
import { KEY_FILE, loadMasterKeys } from '../../secrets/index.ts';
import { checkBackupFile, type Frame, readFrames } from './backup-file.ts';
import { type BackupHead, loadDump, readJobsMigration } from './dump.sql.ts';
import { dropDatabase, hasAccounts, makeDatabase, putInPlace } from './swap-databases.sql.ts';

export interface RestoreBackupOptions {
  file: string;
  dataDir: string;
  encryptionKey?: string;
  oldEncryptionKeys?: readonly string[];
  /** Restores also where the data folder has accounts, which are lost. */
  replaces: boolean;
  log: Log;
}

export interface RestoredBackup {
  madeAt: string;
  rows: number;
  /** Migrations that this version has and the backup had not. */
  applied: string[];
}

const NEW_DATABASE = 'headwater_restoring';

/**
 * Puts a backup in the place of the embedded database of `dataDir`. The old database is there until
 * the new one is complete. Throws INVALID_REQUEST for a file that is not whole, and CONFLICT where
 * a node runs, a key is missing or something would be lost; then nothing was changed.
 */
export async function restoreBackup(options: RestoreBackupOptions): Promise<RestoredBackup> {
  const { file, dataDir, replaces, log } = options;
  const { bytes } = await checkBackupFile(file);
  const head = await readHead(file, bytes);
  await checkKnownMigrations(head.migrations);
  await keepFromRoot(dataDir);
  await checkKeys(head, options);
  const prepared = await prepareDatabase({ dataDir, log });
  const server = postgresAt(maintenanceUrl(prepared.url, 'postgres'), { max: 1, onnotice: () => undefined });
  try {
    if (!replaces && (await hasAccounts(prepared.url))) {
      throw new HeadwaterError(
        'CONFLICT',
        `The database in ${path.resolve(dataDir)} has accounts, which a restore would replace. Nothing was changed. ` +
          'Restore into another data folder, or say --replace.',
      );
    }
    await makeDatabase(server, NEW_DATABASE);
    const restored = await fillDatabase(maintenanceUrl(prepared.url, NEW_DATABASE), head, readFrames(file, bytes), log);
    await putInPlace(server, NEW_DATABASE);
    return { madeAt: head.madeAt, ...restored };
  } catch (error) {
    // The next restore drops it otherwise.
    await dropDatabase(server, NEW_DATABASE).catch(() => undefined);
    throw error;
  } finally {
    await server.end({ timeout: 5 });
    await prepared.stop();
  }
}

async function readHead(file: string, bytes: number): Promise<BackupHead> {
  for await (const { content } of readFrames(file, bytes)) return JSON.parse(content.toString()) as BackupHead;
  throw new Error('The backup is empty');
}

async function checkKeys({ encryptionKeys }: BackupHead, options: RestoreBackupOptions): Promise<void> {
  const file = path.join(path.resolve(options.dataDir), KEY_FILE);
  const isThere = options.encryptionKey !== undefined || existsSync(file);
  // Loading would make a key.
  const keys = isThere ? (await loadMasterKeys({ ...options, embedded: true })).keys : undefined;
  const missing = encryptionKeys.filter((id) => keys?.find(id) === undefined);
  if (missing.length === 0) return;
  const has = keys === undefined ? 'which has no key yet' : `whose key is ${keys.current().id}`;
  throw new HeadwaterError(
    'CONFLICT',
    `The backup needs the encryption key ${missing.join(', ')}, and it is restored to ${path.dirname(file)}, ${has}. ` +
      `Nothing was changed. Put the key that was kept apart into ${file}, or set HEADWATER_ENCRYPTION_KEY to it.`,
  );
}

/** With the schema that the backup has, and then with that of this version. */
async function fillDatabase(
  url: string,
  head: BackupHead,
  frames: AsyncGenerator<Frame>,
  log: Log,
): Promise<{ rows: number; applied: string[] }> {
  await migrate({ url, log, only: head.migrations.map(({ name }) => name) });
  const next = async () => {
    const frame = await frames.next();
    return frame.done === true ? undefined : frame.value;
  };
  // The head.
  await next();
  const sql = postgresAt(url, { max: 1, max_lifetime: null, onnotice: () => undefined });
  let rows: number;
  try {
    rows = await sql.begin(async (tx) => {
      const jobsMigration = await readJobsMigration(tx as unknown as Transaction);
      if (jobsMigration < head.jobsMigration) throw newerBackup();
      return (await loadDump(tx as unknown as Transaction, next)).rows;
    });
    await sql`analyze`;
  } finally {
    await frames.return(undefined);
    await sql.end({ timeout: 5 });
  }
  return { rows, applied: await migrate({ url, log }) };
}

function newerBackup(): HeadwaterError {
  return new HeadwaterError('CONFLICT', 'The backup was made by a newer Headwater: restore it with that one.');
}

function maintenanceUrl(url: string, database: string): string {
  const at = new URL(url);
  at.pathname = `/${database}`;
  return at.href;
}
