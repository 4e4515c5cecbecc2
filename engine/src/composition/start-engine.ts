import { LIMITS } from '@headwater/shared';
import { seedApps, starterCatalogue } from '../connections/index.ts';
import { ensureFirstAccount, type FirstAccount } from '../accounts/index.ts';
import type { Engine, EngineOptions } from '../contract/index.ts';
import {
  type Database,
  migrate,
  openDatabase,
  prepareDatabase,
  type Stop,
  stopInReverse,
  retryUntilDatabaseBack,
} from '../db/index.ts';
import { assembleEngine } from './engine.ts';
import { claimKey, createSealer, loadMasterKeys } from '../secrets/index.ts';
import { requireLayersOf } from './parts-from-options.ts';
import { releaseAllNodes, requeueWaiting } from '../cluster/index.ts';

/**
 * Two beats that are not answered, and one that is, fit into the time after which a node counts as
 * dead.
 */
const BEAT_LIMITS = { maxStatementMs: 3_000, connectMs: 3_000, maxAwayWaitMs: 1_000 };

export interface StartedEngine {
  engine: Engine;
  firstAccount: FirstAccount;
}

/**
 * Starts everything of one node: database, migrations, keys, engine. Rejects with the cause and
 * leaves nothing running. `onAccount` is called once the first account exists, even if a later step
 * fails.
 */
export async function startEngine(
  options: EngineOptions,
  onAccount: (account: FirstAccount) => void = () => undefined,
): Promise<StartedEngine> {
  const { log, dataDir, databaseUrl, encryptionKey, oldEncryptionKeys, apiKey } = options;
  // Before a database is touched.
  await requireLayersOf(options);
  const place = { dataDir, log, ...(databaseUrl === undefined ? {} : { databaseUrl }) };
  const prepared = await retryUntilDatabaseBack(log, () =>
    prepareDatabase({ ...place, maxWaitMs: Number.POSITIVE_INFINITY }),
  );
  const undo: Record<string, Stop> = { database: () => prepared.stop() };
  try {
    await retryUntilDatabaseBack(log, () => migrate({ url: prepared.currentUrl, log }));
    const loaded = await loadMasterKeys({
      dataDir,
      embedded: prepared.embedded || options.sharesEmbedded === true,
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
      ...(oldEncryptionKeys === undefined ? {} : { oldEncryptionKeys }),
    });
    const { keys, file, warning } = loaded;
    if (warning !== undefined) log.warn(warning);
    const [db, beats] = openBoth(prepared.url, log);
    undo['connections'] = () => db.close();
    undo['connection of heartbeats'] = () => beats.close();
    for (const one of [db, beats]) one.waitForEver(true);
    await retryUntilDatabaseBack(log, () => claimKey(db.sql, loaded));
    // One process owns an embedded database, so every other node registered in it is dead.
    if (prepared.embedded && (await retryUntilDatabaseBack(log, () => releaseAllNodes(db.sql))).nodes.length > 0)
      await retryUntilDatabaseBack(log, () => requeueWaiting(db.sql, 0));
    await retryUntilDatabaseBack(log, () => seedApps(db.sql, starterCatalogue()));
    const firstAccount = await retryUntilDatabaseBack(log, () =>
      ensureFirstAccount(db, apiKey === undefined ? {} : { apiKey }),
    );
    onAccount(firstAccount);
    const gaveUp = new AbortController();
    const engine = await assembleEngine(options, {
      db,
      gaveUp: gaveUp.signal,
      beatSql: beats.sql,
      databaseUrl: db.currentUrl,
      sealer: createSealer(keys),
      ...(file === undefined ? { encryptionKeyId: keys.current().id } : {}),
    });
    undo['engine'] = () => engine.stop();
    for (const one of [db, beats]) one.waitForEver(false);
    const giveUp = () => {
      log.warn('the stop waits no longer; other nodes take over the unfinished work');
      gaveUp.abort();
      for (const one of [db, beats]) void one.close(0);
    };
    return { firstAccount, engine: { ...engine, ...boundedStop(engine, { options, undo, giveUp }) } };
  } catch (error) {
    await stopInReverse(undo, log);
    throw error;
  }
}

interface StopParts {
  options: EngineOptions;
  undo: Record<string, Stop>;
  giveUp: () => void;
}

/**
 * A run may take longer than a stop has, and so may a lock of a node that stands still. All of that
 * is leased work, which other nodes take over: the stop gives it up.
 */
function boundedStop(engine: Engine, { options, undo, giveUp }: StopParts): Pick<Engine, 'drain' | 'stop'> {
  let stopping: Promise<void> | undefined;
  let givingUp: NodeJS.Timeout | undefined;
  const begin = () => {
    givingUp ??= setTimeout(giveUp, options.stopWaitMs ?? LIMITS.shutdownMs * WAIT_SHARE);
  };
  return {
    drain() {
      begin();
      engine.drain();
    },
    stop() {
      begin();
      stopping ??= stopInReverse(undo, options.log).finally(() => clearTimeout(givingUp));
      return stopping;
    },
  };
}

/** For all work, and for heartbeats alone. */
function openBoth(url: string, log: EngineOptions['log']): [Database, Database] {
  const db = openDatabase({
    url,
    onNotice: (notice) => log.debug(notice),
    onAway: ({ error }) => log.warn({ err: error }, `the database is away: ${error.message}`),
    onBack: (awayMs) => log.info({ away_ms: Math.round(awayMs) }, 'the database is back'),
    onSilent: (connections) => log.warn({ connections }, 'the database has not answered; connections are given up'),
  });
  return [db, openDatabase({ url, maxConnections: 1, limits: BEAT_LIMITS })];
}

/** A share of the time that a stop has: the rest is for parts whose work has failed to end. */
const WAIT_SHARE = 0.95;
