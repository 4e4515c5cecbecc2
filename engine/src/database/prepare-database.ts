import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { HeadwaterError } from '@headwater/shared';
import type { Log } from '../log.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

export interface PrepareDatabaseOptions {
  /** A server of one's own, Postgres 14 or newer. Absent: the embedded one in `dataDir`. */
  databaseUrl?: string;
  dataDir: string;
  log: Log;
}

export interface PreparedDatabase {
  url: string;
  /** This process alone uses the database and stops it. */
  embedded: boolean;
  /** Idempotent. Nothing to do for a server of one's own. */
  stop(): Promise<void>;
}

export const DATABASE_NAME = 'headwater';
export const MIN_SERVER_VERSION = 140_000;
const REACH_ATTEMPTS = 10;
const REACH_RETRY_MS = 1_000;
const CONNECT_TIMEOUT_S = 5;

/** An answering database to migrate and use. Throws UNAVAILABLE with what is wrong and what to do. */
export async function prepareDatabase(options: PrepareDatabaseOptions): Promise<PreparedDatabase> {
  if (options.databaseUrl !== undefined) {
    await checkServer(options.databaseUrl, options.log);
    return { url: options.databaseUrl, embedded: false, stop: () => Promise.resolve() };
  }
  const server = await startEmbeddedPostgres({ dataDir: options.dataDir, log: options.log });
  try {
    const url = await ensureDatabase(server.url);
    return { url, embedded: true, stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function ensureDatabase(maintenanceUrl: string): Promise<string> {
  const sql = postgres(maintenanceUrl, { max: 1, onnotice: () => undefined });
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

/** The server may still be starting (compose files start everything at once): about ten seconds of patience. */
async function checkServer(url: string, log: Log): Promise<void> {
  const where = describeUrl(url);
  for (let attempt = 1; ; attempt++) {
    try {
      checkVersion(await readVersion(url), where);
      return;
    } catch (cause) {
      if (cause instanceof HeadwaterError) throw cause;
      if (!mayPass(cause) || attempt === REACH_ATTEMPTS) {
        const message = `The database ${where} cannot be used: ${(cause as Error).message}. Check DATABASE_URL.`;
        throw new HeadwaterError('UNAVAILABLE', message, { cause });
      }
      log.warn({ attempt, of: REACH_ATTEMPTS, reason: (cause as Error).message }, `waiting for the database ${where}`);
      await sleep(REACH_RETRY_MS);
    }
  }
}

async function readVersion(url: string): Promise<{ number: number; text: string }> {
  const sql = postgres(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_S, onnotice: () => undefined });
  try {
    const [row] = await sql<{ number: number; text: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as text`;
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
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch (cause) {
    const form = 'postgres://user:password@host:5432/database';
    throw new HeadwaterError('UNAVAILABLE', `DATABASE_URL is not a URL such as ${form}`, { cause });
  }
}

const PASSING = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENOTFOUND',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  '57P03',
  '53300',
]);

function mayPass(error: unknown): boolean {
  const { code, errors } = error as { code?: string; errors?: unknown[] };
  return (code !== undefined && PASSING.has(code)) || (errors ?? []).some(mayPass);
}
