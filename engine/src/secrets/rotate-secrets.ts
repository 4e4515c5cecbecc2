import { HeadwaterError } from '@headwater/shared';
import { joinDatabase, openDatabase, readLiveNodes, type Sql } from '../db/index.ts';
import type { Log } from '../contract/index.ts';
import { checkSealedKeys, unknownKeys } from './check-keys.ts';
import { addRandomKey, loadMasterKeys, type LoadedMasterKeys } from './master-key.ts';
import { type RotationResult, rotateKeys } from './rotate-keys.ts';
import { createSealer } from './seal.ts';
import { claimEncryptionKey, readEncryptionKeys, replaceEncryptionKeys } from './encryption-keys.sql.ts';
import { readSealedKeyUse, type SealedKeyUse } from './read-sealed-values.sql.ts';

export interface RotateSecretsOptions {
  databaseUrl?: string;
  dataDir: string;
  /**
   * The key to seal with from now on; absent: the one in the data folder is replaced by a random
   * one.
   */
  encryptionKey?: string;
  oldEncryptionKeys?: readonly string[];
  /** Secrets of one transaction. Default 200. */
  batchSize?: number;
  signal?: AbortSignal;
  onProgress?: (rewrapped: number) => void;
  log: Log;
}

export interface RotatedSecrets extends RotationResult {
  /** Name of the key that everything is sealed with now. */
  keyId: string;
  /** The file of the keys, the new one first; absent if they are configured. */
  file?: string;
  /** Keys that the database needed before. */
  before: SealedKeyUse[];
}

/** A node's heartbeats come every two seconds; one that was killed counts for so long. */
const LIVE_MS = 10_000;

/**
 * Replaces the master key of an installation whose nodes may be running: see `rotateKeys`. Throws
 * CONFLICT if a secret needs a missing key, or a live node still seals with another key. Then
 * nothing has been changed.
 */
export async function rotateSecrets(options: RotateSecretsOptions): Promise<RotatedSecrets> {
  const { databaseUrl, dataDir, log } = options;
  const joined = await joinDatabase({ dataDir, log, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  const db = openDatabase({ url: joined.url, maxConnections: 2 });
  try {
    return await rotateIn(db.sql, options, await loadMasterKeys({ ...options, embedded: joined.embedded }));
  } finally {
    await db.close();
    await joined.stop();
  }
}

async function rotateIn(
  sql: Sql,
  options: RotateSecretsOptions,
  { keys, file }: LoadedMasterKeys,
): Promise<RotatedSecrets> {
  await checkSealedKeys(sql, keys);
  await checkNobodyNeeds(sql, await unknownKeys(sql, keys));
  const before = await readSealedKeyUse(sql);
  if (file === undefined) await checkNodesSealWith(sql, keys.current().id);
  else {
    if (options.databaseUrl !== undefined) await checkOneNode(sql, file);
    // Something under another key: the run before was interrupted, and its new key is in the file
    // already.
    const inUse = [...before.map(({ keyId }) => keyId), ...(await readEncryptionKeys(sql))];
    const isResumed = inUse.some((keyId) => keyId !== keys.current().id);
    if (!isResumed) await addRandomKey(file);
    // The running node seals with it from now on: one that starts meanwhile needs both.
    await claimEncryptionKey(sql, keys.current().id, () => true);
  }
  const result = await rotateKeys({ ...options, sql, sealer: createSealer(keys) });
  // Until then a node without the key from before must not start.
  if (result.complete && result.unopened.length === 0) await replaceEncryptionKeys(sql, keys.current().id);
  return { ...result, before, keyId: keys.current().id, ...(file === undefined ? {} : { file }) };
}

/**
 * A key that is lost is replaced where nothing needs it: nothing is sealed with it, and no node is
 * there that would.
 */
async function checkNobodyNeeds(sql: Sql, unknown: readonly string[]): Promise<void> {
  if (unknown.length === 0 || (await readLiveNodes(sql, LIVE_MS)).length === 0) return;
  throw new HeadwaterError(
    'CONFLICT',
    `Nodes of this database run with the encryption key ${unknown.join(', ')}, which is not here. Add it to ` +
      'HEADWATER_ENCRYPTION_KEYS_OLD, or, if it is lost, stop the nodes, then run this again.',
  );
}

async function checkNodesSealWith(sql: Sql, keyId: string): Promise<void> {
  const others = (await readLiveNodes(sql, LIVE_MS)).filter((node) => node.encryptionKeyId !== keyId);
  if (others.length === 0) return;
  const which = others.map(({ id, role, encryptionKeyId }) => `${id} (${role}, ${encryptionKeyId ?? 'a key file'})`);
  throw new HeadwaterError(
    'CONFLICT',
    `These nodes do not seal with the key ${keyId} yet: ${which.join(', ')}. Start each of them again with the new ` +
      'HEADWATER_ENCRYPTION_KEY, the one before in HEADWATER_ENCRYPTION_KEYS_OLD, then run this again.',
  );
}

async function checkOneNode(sql: Sql, file: string): Promise<void> {
  const nodes = await readLiveNodes(sql, LIVE_MS);
  if (nodes.length <= 1) return;
  throw new HeadwaterError(
    'CONFLICT',
    `${nodes.length} nodes use this database, and the key in ${file} can be replaced for one alone. Set ` +
      'HEADWATER_ENCRYPTION_KEY on each of them, to the key in that file first.',
  );
}
