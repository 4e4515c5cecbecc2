import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { checkKeys, loadMasterKeys, readEncryptionKeys, readSealedKeyUse } from '../../secrets/index.ts';
import { openDatabase } from '../../db/index.ts';
import { type DoctorCheck, type DoctorOptions, failedCheck, messageOf, ok, warn } from './report.ts';

const NAME = 'encryption key';
const STORED = 'stored secrets';

const keyFileOf = ({ dataDir }: DoctorOptions) => path.resolve(dataDir, 'encryption-key');

/** Whether there is a key, without making one. */
export async function checkKey(options: DoctorOptions): Promise<DoctorCheck> {
  const { encryptionKey, databaseUrl } = options;
  const file = keyFileOf(options);
  try {
    if (encryptionKey !== undefined) {
      const { keys } = await loadMasterKeys({ ...options, embedded: false });
      return ok(NAME, `HEADWATER_ENCRYPTION_KEY (key ${keys.current().id})`);
    }
    if (!existsSync(file)) return missing(file, databaseUrl);
    const { keys } = await loadMasterKeys({ ...options, embedded: databaseUrl === undefined });
    return judgeFile(file, keys.current().id, databaseUrl);
  } catch (error) {
    return failedCheck(NAME, messageOf(error), 'Secrets cannot be opened: nothing starts.');
  }
}

function missing(file: string, databaseUrl: string | undefined): DoctorCheck {
  if (databaseUrl === undefined) return ok(NAME, `none yet: the first start makes one in ${file}`);
  return warn(
    NAME,
    'HEADWATER_ENCRYPTION_KEY is not set',
    `The first start makes a key in ${file}; every node on this database needs the same one. Make one: openssl rand -hex 32`,
  );
}

function judgeFile(file: string, id: string, databaseUrl: string | undefined): DoctorCheck {
  const detail = `${file} (key ${id})`;
  if ((statSync(file).mode & 0o077) !== 0) {
    return warn(
      NAME,
      `${detail} can be read by others`,
      `Each user that reads it can open every secret: chmod 600 ${file}`,
    );
  }
  if (databaseUrl === undefined) return ok(NAME, detail);
  return warn(
    NAME,
    detail,
    'Every node on this database needs the same key: HEADWATER_ENCRYPTION_KEY is the place for it.',
  );
}

/** Checks whether the configured keys can open the secrets in the database. */
export async function checkStoredKeys(options: DoctorOptions, url: string): Promise<DoctorCheck> {
  const db = openDatabase({ url, maxConnections: 1 });
  try {
    const used = await readSealedKeyUse(db.sql);
    const count = used.reduce((sum, use) => sum + use.count, 0);
    const inUse = await readEncryptionKeys(db.sql);
    const isUnused = count === 0 && inUse.length === 0;
    if (options.encryptionKey === undefined && !existsSync(keyFileOf(options))) {
      if (isUnused) return ok(STORED, 'none yet');
      return failedCheck(
        STORED,
        `${count} secrets, and no key to open them: the nodes of this database use ${inUse.join(', ') || 'another'}`,
        'Set the key that sealed them: without it no node starts.',
      );
    }
    await checkKeys(db.sql, await loadMasterKeys({ ...options, embedded: options.databaseUrl === undefined }));
    if (isUnused) return ok(STORED, 'none yet');
    return ok(STORED, `${count}, and the keys to open them; this key is that of the database's nodes`);
  } catch (error) {
    return failedCheck(
      STORED,
      messageOf(error),
      'A node does not start with a key that does not open the stored secrets.',
    );
  } finally {
    await db.close();
  }
}
