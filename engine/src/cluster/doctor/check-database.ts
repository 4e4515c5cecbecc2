import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  describeUrl,
  findCluster,
  hostUrlsOf,
  inspectServer,
  joinDatabase,
  listMigrations,
  MIN_SERVER_VERSION,
  prepareDatabase,
  type ServerState,
} from '../../db/index.ts';
import { checkStoredKeys } from './check-key.ts';
import { type DoctorCheck, type DoctorOptions, failedCheck, messageOf, ok, warn } from './report.ts';

/**
 * Nodes compare times of theirs with those of the database, and signatures of deliveries are valid
 * for minutes.
 */
const WARN_CLOCK_MS = 2_000;
const FAIL_CLOCK_MS = 60_000;
/** Every commit waits for a round trip. */
const WARN_ROUND_TRIP_MS = 20;

/** The server, its clock, the schema, and whether the secrets in it can be opened. */
export async function checkDatabase(options: DoctorOptions): Promise<DoctorCheck[]> {
  const { databaseUrl, dataDir } = options;
  if (databaseUrl !== undefined) return checkAt(options, databaseUrl, `Postgres at ${describeUrl(databaseUrl)}`);
  try {
    if (!(await findCluster(dataDir))) return await tryEmbedded(options);
    const joined = await joinDatabase({ dataDir, log: options.log });
    try {
      return await checkAt(options, joined.url, `the embedded Postgres in ${path.resolve(dataDir)}`);
    } finally {
      await joined.stop();
    }
  } catch (error) {
    return [failedCheck('database', messageOf(error), 'Without a database nothing starts.')];
  }
}

/**
 * No embedded database exists yet: start one in a temporary folder to see whether Postgres works
 * here.
 */
async function tryEmbedded({ log }: DoctorOptions): Promise<DoctorCheck[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-doctor-'));
  try {
    const prepared = await prepareDatabase({ dataDir, log });
    try {
      const { version } = await inspectServer(prepared.url);
      return [ok('database', `the embedded Postgres ${version.text} works here; its data is made at the first start`)];
    } finally {
      await prepared.stop();
    }
  } catch (error) {
    return [
      failedCheck(
        'database',
        messageOf(error),
        'Set DATABASE_URL to a Postgres server: the embedded one does not run here.',
      ),
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The state of the first host that accepts a connection. Throws the error of the last host. */
async function inspectAny([url = '', ...others]: readonly string[]): Promise<ServerState> {
  return inspectServer(url).catch((error: unknown) => {
    if (others.length === 0) throw error;
    return inspectAny(others);
  });
}

async function checkAt(options: DoctorOptions, url: string, what: string): Promise<DoctorCheck[]> {
  let state: ServerState;
  try {
    state = await inspectAny(hostUrlsOf(url));
  } catch (error) {
    return [
      failedCheck('database', `${what} cannot be used: ${messageOf(error)}`, 'Without a database nothing starts.'),
    ];
  }
  const migrations = judgeMigrations(state, await listMigrations());
  const checks = [judgeVersion(state, what), judgeRoundTrip(state), judgeClock(state), migrations];
  // Sealed values can be read where the schema is this code's.
  if (migrations.status !== 'ok') return checks;
  return [...checks, await checkStoredKeys(options, url)];
}

function judgeVersion({ version }: ServerState, what: string): DoctorCheck {
  if (version.number >= MIN_SERVER_VERSION) return ok('database', `${what}, version ${version.text}`);
  return failedCheck('database', `${what} is version ${version.text}`, 'Headwater needs Postgres 14 or newer.');
}

function judgeRoundTrip({ roundTripMs }: ServerState): DoctorCheck {
  const detail = `${roundTripMs.toFixed(1)} ms to the database and back`;
  if (roundTripMs <= WARN_ROUND_TRIP_MS) return ok('round trip', detail);
  return warn(
    'round trip',
    detail,
    'Every accepted request and every run waits for it: put nodes near their database.',
  );
}

function judgeClock({ clockAheadMs }: ServerState): DoctorCheck {
  const difference = Math.round(Math.abs(clockAheadMs));
  const detail = `the database's clock is ${difference} ms ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  const costs =
    'Receivers refuse signatures whose time is wrong, and times in records do not agree: keep clocks set (NTP).';
  if (difference <= WARN_CLOCK_MS) return ok('clock', detail);
  return (difference <= FAIL_CLOCK_MS ? warn : failedCheck)('clock', detail, costs);
}

function judgeMigrations({ migrations }: ServerState, known: readonly string[]): DoctorCheck {
  if (migrations === undefined) {
    return warn(
      'schema',
      'the database is empty',
      'Nothing: the first start, or `hw server migrate`, makes the schema.',
    );
  }
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    return failedCheck(
      'schema',
      `the database has ${unknown.join(', ')}, unknown here`,
      'A newer Headwater has used it: run that one.',
    );
  }
  const missing = known.filter((name) => !migrations.includes(name));
  if (missing.length === 0) return ok('schema', `up to date (${known.length} migrations)`);
  return warn(
    'schema',
    `${missing.join(', ')} not applied yet`,
    'Nothing: the next start, or `hw server migrate`, applies it.',
  );
}
