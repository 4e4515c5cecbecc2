import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EngineOptions, startEngine } from '../../engine/src/index.ts';
import type { AccountLimitName } from '../../shared/src/index.ts';
import { type Config, readConfig } from '../../api/src/config.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import { sharedConfinement } from './confinement.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { endIdleConnections } from './idle-connections.ts';
import { testLog } from './logs.ts';
import { serveEngine } from './serve-engine.ts';
import { freePort } from './server.ts';
import { sharedNode } from './shared-node.ts';
import type { Json } from './json.ts';

/** An answer of the REST API, whatever its status. */
interface Answer {
  status: number;
  data: Json;
  text: string;
}

export interface Headwater {
  url: string;
  apiKey: string;
  /** The account of the key. */
  accountId: string;
  /** Parameters go as JSON, for GET in the query string. */
  api(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, parameters?: Record<string, unknown>): Promise<Answer>;
  /** The same with another key. */
  as(apiKey: string): Headwater['api'];
  /** The same with the operator's key. */
  admin: Headwater['api'];
  /** Prometheus text of the engine. */
  metrics(): Promise<string>;
  /** Its database. */
  sql: Sql;
  /** Sets limits of the account. */
  limit(limits: Partial<Record<AccountLimitName, number | null>>): Promise<void>;
  /** Deploys a source; throws what the API answered where it was refused. */
  deploy(componentCode: string, configuredProps?: Record<string, unknown>): Promise<DeployedSource>;
  /** Resolves with the oldest first once the source has `count` events. */
  untilEvents(sourceId: string, count: number): Promise<StoredEvent[]>;
  /** Resolves once nothing of the account waits and nothing runs. */
  untilIdle(): Promise<void>;
  /** Another account of the same node, which goes on when that is stopped. */
  newAccount(): Promise<Headwater>;
  stop(): Promise<void>;
}

export interface DeployedSource {
  id: string;
  /** Endpoint of the prop `http`; empty without one. */
  endpoint: string;
}

interface StoredEvent {
  id: string;
  event: Json;
  metadata: { id: string | null; name: string; summary: string | null; ts: number | null };
}

/**
 * An account of the node that the files of this worker share. It ends with the worker, its database
 * with the run.
 */
export async function sharedHeadwater(): Promise<Headwater> {
  const node = await sharedNode(() =>
    startHeadwater({ countsEveryMs: COUNTS_EVERY_MS }, async (url) => url, SHARED_SANDBOX),
  );
  return node.newAccount();
}

/** Tests wait for what a node has counted; the least load that makes no test wait for seconds. */
const COUNTS_EVERY_MS = 1_000;

/**
 * Each file has a tenant of its own: a process is booted for it before it asks, and those of
 * earlier files make room.
 */
const SHARED_SANDBOX: NonNullable<EngineOptions['sandbox']> = { blankProcesses: 1, maxProcesses: 8 };

/**
 * A whole node in this process, on a database of its own. For tests that look at all accounts, or
 * stop, change or measure the node. Loopback is allowed, since receivers of tests are there.
 */
export async function startHeadwater(
  options: Partial<
    Pick<
      EngineOptions,
      'countsEveryMs' | 'limitDefaults' | 'metricsPerTenant' | 'oauthRedirectOrigins' | 'npmRegistry' | 'log'
    >
  > & {
    /** The name in its URLs. Default: `127.0.0.1`. */
    host?: 'localhost';
    /** Below which all URLs are, as behind a proxy: `/hw`. Default: none. */
    basePath?: string;
    /** Serves the built web UI. Default false. */
    web?: boolean;
    /** The mail server. Default: none. */
    mail?: { smtpUrl: string; from: string };
    /** A provider of sign-ins, given the node's URL. Default: none. */
    oidc?: (url: string) => Promise<NonNullable<EngineOptions['oidc']>>;
    /** Default: the same for all nodes of tests. */
    encryptionKey?: string;
    /** As in AppOptions. */
    portalFrameOrigins?: readonly string[];
  } = {},
  /** Maps the database's URL to the one that the node uses. The test itself connects directly. */
  reach: (databaseUrl: string) => Promise<string> = async (url) => url,
  // Most tests have one tenant: a process for another would be booted for nothing.
  sandbox: NonNullable<EngineOptions['sandbox']> = { blankProcesses: 0 },
): Promise<Headwater> {
  const database = await createTestDatabase();
  const databaseUrl = await reach(database.url);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-node-'));
  const apiKey = `hw_${'t'.repeat(32)}`;
  const port = await freePort();
  const { host = '127.0.0.1', basePath = '', web = false, portalFrameOrigins = [] } = options;
  const url = `http://${host}:${port}${basePath}`;
  const adminKey = `hw_${'a'.repeat(32)}`;
  const { log = testLog } = options;
  const { oidc: startProvider, ...others } = options;
  const oidc = await startProvider?.(url);
  const { engine, firstAccount } = await startEngine({
    // Pages show what was counted.
    ...(web ? { countsEveryMs: COUNTS_EVERY_MS } : {}),
    ...others,
    ...(oidc === undefined ? {} : { oidc }),
    role: 'all',
    databaseUrl,
    dataDir,
    encryptionKey: options.encryptionKey ?? '5'.repeat(64),
    apiKey,
    egressAllow: ['127.0.0.0/8'],
    // An option of the sandbox that no node is ever given.
    sandbox: Object.assign({ confinement: await sharedConfinement(sandbox.maxRssMb) }, sandbox),
    listeningPorts: () => [port],
    publicUrl: url,
    ...networkEnvironment(),
    log,
  });
  const { server } = await serveEngine(engine, { publicUrl: url, port, log, adminKey, web, portalFrameOrigins });
  const admin = createClient(url, adminKey);
  const { sql } = database.db;
  const base = { url, admin, sql, metrics: () => engine.metrics(), as: (key: string) => createClient(url, key) };
  async function newAccount(): Promise<Headwater> {
    const { status, data, text } = await admin('POST', '/accounts', { name: 'Tests' });
    if (status !== 200) throw new Error(`No account: ${text}`);
    return viewOf({ accountId: data.id, apiKey: data.api_key, stop: () => endTimers(sql, data.id) });
  }
  const viewOf = (account: Account) => ({ ...base, ...account, ...actionsOf(base, account), newAccount });
  return viewOf({
    accountId: firstAccount.accountId,
    apiKey,
    async stop() {
      engine.streams.end();
      engine.ingest.endWaits();
      endIdleConnections();
      await server.stop();
      await engine.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  });
}

type Account = Pick<Headwater, 'accountId' | 'apiKey' | 'stop'>;
type Actions = Pick<Headwater, 'api' | 'limit' | 'deploy' | 'untilEvents' | 'untilIdle'>;

function actionsOf({ url, admin, sql }: Pick<Headwater, 'url' | 'admin' | 'sql'>, account: Account): Actions {
  const { accountId, apiKey } = account;
  const api = createClient(url, apiKey);
  return {
    api,
    async limit(limits) {
      const { status, text } = await admin('PUT', `/accounts/${accountId}/limits`, limits);
      if (status !== 200) throw new Error(`The limits were not set: ${text}`);
    },
    async deploy(componentCode, configuredProps = {}) {
      const parameters = { component_code: componentCode, configured_props: configuredProps };
      const { status, data, text } = await api('POST', '/sources', parameters);
      if (status !== 200) throw new Error(`The source was not deployed: ${text}`);
      return { id: data.id, endpoint: data.configured_props.http?.endpoint_url ?? '' };
    },
    async untilEvents(sourceId, count) {
      const events = await eventually(
        async () => {
          const { data } = await api('GET', `/sources/${sourceId}/event_summaries`, { limit: 100, expand: 'event' });
          return data.length >= count && (data as StoredEvent[]);
        },
        { what: `${count} events of ${sourceId}` },
      );
      return events.toReversed();
    },
    async untilIdle() {
      const open = () => sql`select from invocations where account_id = ${accountId}`;
      await eventually(async () => (await open()).length === 0);
    },
  };
}

/** Nothing of the account comes up again by itself while later files run. */
async function endTimers(sql: Sql, accountId: string): Promise<void> {
  await sql`delete from timers where account_id = ${accountId}`;
}

/** As the main file passes it on: how this machine reaches the registry. */
function networkEnvironment(): Pick<Config, 'networkEnvironment'> {
  const outcome = readConfig(process.env, []);
  const found = outcome.ok ? outcome.config.networkEnvironment : undefined;
  return found === undefined ? {} : { networkEnvironment: found };
}

/** The code of `examples/<name>`. */
export function readExample(name: string): Promise<string> {
  return readFile(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
}

function createClient(url: string, apiKey: string): Headwater['api'] {
  return async (method, pathname, parameters = {}) => {
    const target = new URL(`/v1${pathname}`, url);
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
    const init: RequestInit = { method, headers };
    if (method === 'GET') {
      for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, String(value));
    } else {
      headers['content-type'] = 'application/json';
      init.body = JSON.stringify(parameters);
    }
    const response = await fetch(target, init);
    const text = await response.text();
    const body: unknown = text === '' ? {} : JSON.parse(text);
    return { status: response.status, data: (body as { data?: unknown }).data, text };
  };
}
