import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError } from '@headwater/shared';
import type { Log } from '../../contract/index.ts';
import { hostUrlsOf } from '../database-hosts.ts';
import { codeOf, isDatabaseAway } from '../lost-connection.ts';
import { postgresAt } from '../postgres-at.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

export interface PrepareDatabaseOptions {
  /** A server of one's own, Postgres 14 or newer. Absent: the embedded one in `dataDir`. */
  databaseUrl?: string;
  dataDir: string;
  log: Log;
  /**
   * For a server of one's own that cannot be reached. Default 10 seconds; a node waits for ever.
   */
  maxWaitMs?: number;
  /** Settings of the embedded server, as in EmbeddedPostgresOptions. */
  settings?: Readonly<Record<string, string>>;
}

export interface PreparedDatabase {
  url: string;
  /** URL of the writable host, if `url` names several. */
  currentUrl: string;
  /** This process alone uses the database and stops it. */
  embedded: boolean;
  /** Idempotent. Nothing to do for a server of one's own. */
  stop(): Promise<void>;
}

export const DATABASE_NAME = 'headwater';
export const MIN_SERVER_VERSION = 140_000;
const DEFAULT_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
const CONNECT_TIMEOUT_S = 5;

/** An answering database to migrate and use. Throws UNAVAILABLE with the fault and the remedy. */
export async function prepareDatabase(options: PrepareDatabaseOptions): Promise<PreparedDatabase> {
  if (options.databaseUrl !== undefined) {
    const currentUrl = await waitForServer(options);
    return { url: options.databaseUrl, currentUrl, embedded: false, stop: () => Promise.resolve() };
  }
  const { dataDir, log, settings = {} } = options;
  const server = await startEmbeddedPostgres({ dataDir, log, settings });
  try {
    const url = await ensureDatabase(server.url);
    return { url, currentUrl: url, embedded: true, stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function ensureDatabase(maintenanceUrl: string): Promise<string> {
  const sql = postgresAt(maintenanceUrl, { max: 1, onnotice: () => undefined });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE_NAME}`;
    if (found === undefined) await sql`create database ${sql(DATABASE_NAME)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
  const url = new URL(maintenanceUrl);
  url.pathname = `/${DATABASE_NAME}`;
  return url.href;
}

/**
 * The server may still be starting (compose files start everything at once), recover after a crash,
 * or have no connection left. Answers the URL of the host that is to be used: of several the first
 * that stores.
 */
async function waitForServer({
  databaseUrl = '',
  log,
  maxWaitMs = DEFAULT_WAIT_MS,
}: PrepareDatabaseOptions): Promise<string> {
  const where = describeUrl(databaseUrl);
  const urls = hostUrlsOf(databaseUrl);
  const beganAtMs = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await findServer(urls, where);
    } catch (cause) {
      if (cause instanceof HeadwaterError) throw cause;
      const waitedMs = performance.now() - beganAtMs;
      if (!mayPass(cause) || waitedMs >= maxWaitMs) {
        const message = `The database ${where} cannot be used: ${(cause as Error).message}. Check DATABASE_URL.`;
        throw new HeadwaterError('UNAVAILABLE', message, { cause });
      }
      const reason = (cause as Error).message || codeOf(cause);
      log.warn({ reason, waited_ms: Math.round(waitedMs) }, `waiting for the database ${where}`);
      await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10)));
    }
  }
}

async function findServer(urls: readonly string[], where: string): Promise<string> {
  let failure: unknown;
  for (const url of urls) {
    try {
      const version = await readVersion(url);
      checkVersion(version, where);
      if (urls.length === 1 || version.writable) return url;
      failure ??= Object.assign(new Error('none of its servers stores anything'), { code: '25006' });
    } catch (error) {
      if (error instanceof HeadwaterError) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

interface ServerVersion {
  number: number;
  text: string;
  writable: boolean;
}

async function readVersion(url: string): Promise<ServerVersion> {
  const sql = postgresAt(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_S, onnotice: () => undefined });
  try {
    const [row] = await sql<ServerVersion[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as text,
        not current_setting('transaction_read_only')::bool as writable`;
    if (row === undefined) throw new Error('it did not say its version');
    return row;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function checkVersion(version: { number: number; text: string }, where: string): void {
  if (version.number >= MIN_SERVER_VERSION) return;
  throw new HeadwaterError(
    'UNAVAILABLE',
    `The database ${where} is Postgres ${version.text}; Headwater needs 14 or newer.`,
  );
}

/** Host, port and database alone: the rest of the URL holds the password. */
export function describeUrl(url: string): string {
  try {
    return hostUrlsOf(url)
      .map((one) => new URL(one))
      .map(({ host, pathname }, place, all) => (place < all.length - 1 ? host : `${host}${pathname}`))
      .join(',');
  } catch (cause) {
    const form = 'postgres://user:password@host:5432/database';
    throw new HeadwaterError('UNAVAILABLE', `DATABASE_URL is not a URL such as ${form}`, { cause });
  }
}

const PASSING = new Set(['EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

function mayPass(error: unknown): boolean {
  const { errors } = error as { errors?: unknown[] };
  return isDatabaseAway(error) || PASSING.has(codeOf(error)) || (errors ?? []).some(mayPass);
}
