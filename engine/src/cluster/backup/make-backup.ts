import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { HeadwaterError, randomToken } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';
import { joinDatabase, openDatabase, postgresAt, syncFolder, type Transaction } from '../../db/index.ts';
import { loadMasterKeys, readSealedKeyUse } from '../../secrets/index.ts';
import { type Frame, writeFrames } from './backup-file.ts';
import { dumpDatabase } from './dump.sql.ts';

export interface MakeBackupOptions {
  dataDir: string;
  encryptionKey?: string;
  oldEncryptionKeys?: readonly string[];
  /** A file, which is whole or not there, or where the bytes go, which stays open. */
  to: string | Writable;
  log: Log;
}

export interface MadeBackup {
  /** Absent where the bytes went elsewhere. */
  bytes?: number;
  /** Names of the keys without which the backup is worth nothing. */
  encryptionKeys: string[];
  /** The file that has them; absent where they are configured. */
  keyFile?: string;
}

/**
 * Writes all of the embedded database to a file, as it is at one moment, also while its node runs.
 * The keys are not in it.
 */
export async function makeBackup(options: MakeBackupOptions): Promise<MadeBackup> {
  const { dataDir, to, log } = options;
  const joined = await joinDatabase({ dataDir, log });
  try {
    const { file: keyFile } = await loadMasterKeys({ ...options, embedded: true });
    const encryptionKeys = await readKeysInUse(joined.url);
    const made = { encryptionKeys, ...(keyFile === undefined ? {} : { keyFile }) };
    if (typeof to !== 'string') {
      await dumpTo(joined.url, encryptionKeys, to, false);
      return made;
    }
    // A name of its own: two backups to one file must not write into each other's.
    const draft = `${to}.${randomToken(8)}.part`;
    try {
      const output = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      await dumpTo(joined.url, encryptionKeys, output, true);
      await rename(draft, to);
      await syncFolder(path.dirname(path.resolve(to)));
    } catch (error) {
      await rm(draft, { force: true });
      throw writeFailure(to, error);
    }
    return { ...made, bytes: (await stat(to)).size };
  } finally {
    await joined.stop();
  }
}

function writeFailure(to: string, error: unknown): unknown {
  const { path: at, message } = error as NodeJS.ErrnoException;
  if (at === undefined) return error;
  return new HeadwaterError('INVALID_REQUEST', `The backup ${to} cannot be written: ${message}`, { cause: error });
}

/** Keys of sealed values, and those that nodes seal with. */
async function readKeysInUse(url: string): Promise<string[]> {
  const db = openDatabase({ url, maxConnections: 1 });
  try {
    return (await readSealedKeyUse(db.sql)).map(({ keyId }) => keyId).filter((id) => id !== '');
  } finally {
    await db.close();
  }
}

async function dumpTo(url: string, keys: readonly string[], output: Writable, end: boolean): Promise<void> {
  const sql = postgresAt(url, { max: 1, max_lifetime: null, onnotice: () => undefined });
  try {
    // One snapshot for all tables; nothing waits for it, and it waits for nothing.
    await sql.begin('isolation level repeatable read read only', async (tx) => {
      const frames: AsyncIterable<Frame> = dumpDatabase(tx as unknown as Transaction, keys);
      await writeFrames(frames, output, end);
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
