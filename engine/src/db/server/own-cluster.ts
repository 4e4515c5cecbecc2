import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { HeadwaterError } from '@headwater/shared';

/**
 * Held for as long as this process owns the data folder. It lives in a connection, so it dies with
 * the process.
 */
export interface Ownership {
  /** Resolves when the connection is lost without release(). */
  lost: Promise<void>;
  /** Idempotent. */
  release(): Promise<void>;
}

/** Any number will do; all advisory locks of the project are told apart by theirs. */
const OWNER_LOCK = 4_815_162_342;
/**
 * The server notices within milliseconds that a killed owner is gone; a live owner never lets go.
 */
const CLAIM_TIMEOUT_MS = 3_000;
const CLAIM_RETRY_MS = 50;
const CONNECT_TIMEOUT_S = 10;

/**
 * Claims the server at `url` for this process. Throws CONFLICT if a live process owns it. Throws
 * UNAVAILABLE if the server does not serve `clusterDir` (a stale port that another program has now)
 * or rejects our password.
 */
export async function ownCluster(url: string, clusterDir: string): Promise<Ownership> {
  let announceLoss: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => {
    announceLoss = resolve;
  });
  const sql = postgres(url, {
    max: 1,
    // The defaults would close and open the connection anew once in a while, and lose the lock.
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: CONNECT_TIMEOUT_S,
    onnotice: () => undefined,
    onclose: () => announceLoss(),
    connection: { application_name: 'headwater-owner' },
  });
  try {
    await checkFolder(sql, clusterDir);
    await claim(sql, clusterDir);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return { lost, release: () => sql.end({ timeout: 1 }) };
}

async function checkFolder(sql: postgres.Sql, clusterDir: string): Promise<void> {
  let served: string | undefined;
  try {
    const [row] = await sql<{ dir: string }[]>`select current_setting('data_directory') as dir`;
    served = row?.dir;
  } catch (cause) {
    throw new HeadwaterError(
      'UNAVAILABLE',
      `The embedded Postgres of ${clusterDir} runs but does not let us in: ${(cause as Error).message}`,
      { cause },
    );
  }
  if (served === clusterDir) return;
  throw new HeadwaterError('UNAVAILABLE', `The server found for ${clusterDir} serves ${served}`);
}

async function claim(sql: postgres.Sql, clusterDir: string): Promise<void> {
  const deadline = Date.now() + CLAIM_TIMEOUT_MS;
  for (;;) {
    const [row] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${OWNER_LOCK}::bigint) as got`;
    if (row?.got) return;
    if (Date.now() > deadline) break;
    await sleep(CLAIM_RETRY_MS);
  }
  throw new HeadwaterError(
    'CONFLICT',
    `Another Headwater uses ${clusterDir}. Stop it first, or give this one a data directory of its own.`,
  );
}
