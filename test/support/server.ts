import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../../engine/src/db/database.ts';
import { eventually } from './eventually.ts';
import { NODE_FLAGS } from '../../cli/src/server/run-main.ts';
import { startProcess, type TestProcess } from './processes.ts';
import { makeDataDir } from './run-folder.ts';
import type { Json } from './json.ts';

const MAIN = fileURLToPath(new URL('../../api/src/main.ts', import.meta.url));

export const API_KEY = `hw_test_${'k'.repeat(32)}`;
export const ADMIN_KEY = `hw_admin_${'a'.repeat(32)}`;

export interface ServerOptions {
  /** A database of the test's own; absent: the embedded one in `dataDir`. */
  databaseUrl?: string;
  dataDir?: string;
  role?: 'all' | 'api' | 'engine';
  /** Main file of a node of another version. Default: the one of this tree. */
  main?: string;
  /** Default: one that is free. */
  port?: number;
  env?: Record<string, string>;
  /** As `ProcessOptions.ownSession`. */
  ownSession?: boolean;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

export interface TestServer {
  url: string;
  dataDir: string;
  process: TestProcess;
  api(method: string, path: string, body?: unknown, key?: string): Promise<ApiAnswer>;
  /** SIGTERM. */
  stop(): Promise<void>;
}

/** The system as a user starts it, in a process of its own. Resolves when /healthz answers 200. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { port = await freePort() } = options;
  const dataDir = options.dataDir ?? makeDataDir();
  const url = `http://127.0.0.1:${port}`;
  const child = startProcess({
    ...(options.ownSession === undefined ? {} : { ownSession: options.ownSession }),
    args: [...NODE_FLAGS, options.main ?? MAIN, ...(options.role === undefined ? [] : [options.role])],
    env: {
      PORT: String(port),
      HEADWATER_DATA_DIR: dataDir,
      HEADWATER_API_KEY: API_KEY,
      HEADWATER_ADMIN_KEY: ADMIN_KEY,
      HEADWATER_EGRESS_ALLOW: '127.0.0.0/8',
      HEADWATER_PUBLIC_URL: url,
      HEADWATER_ENCRYPTION_KEY: 'e'.repeat(64),
      ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
  });
  await untilReady(url, child, options.env?.['HEADWATER_LOG_LEVEL'] !== 'warn');
  return {
    url,
    dataDir,
    process: child,
    api: (method, apiPath, body, key = API_KEY) => callApi(`${url}/v1${apiPath}`, method, body, key),
    async stop() {
      await child.end('SIGTERM');
    },
  };
}

/**
 * Ends the newest node with SIGKILL, and makes it look silent for a minute. So other nodes take
 * over its rows at their next check, not ten seconds later.
 */
export async function killNode({ process: node }: Pick<TestServer, 'process'>, sql: Sql): Promise<void> {
  await node.end('SIGKILL');
  await sql`
    update nodes set seen_at = seen_at - interval '1 minute'
    where id = (select id from nodes order by started_at desc limit 1)`;
}

/**
 * Asks it only when it has said that it is up, if it says so: requests before that take time from
 * the start.
 */
async function untilReady(url: string, child: TestProcess, saysSo: boolean): Promise<void> {
  const isUp = () => !saysSo || child.output().includes('headwater is up');
  const ready = eventually(async () => isUp() && (await fetch(`${url}/healthz`)).status === 200, {
    timeoutMs: 60_000,
    everyMs: 25,
    what: 'the server to be ready',
  });
  const over = child.exited.then(() => {
    throw new Error(`The server did not start:\n${child.output()}`);
  });
  try {
    await Promise.race([ready, over]);
  } catch (cause) {
    await child.end();
    throw new Error(`The server did not start:\n${child.output()}`, { cause });
  }
}

export async function callApi(url: string, method: string, body: unknown, key: string): Promise<ApiAnswer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/**
 * Below the system's range of free ports, so that no other process gets one of these before its
 * server listens.
 */
const FIRST_PORT = 10_000;
/**
 * Ports for each test process. Another process could otherwise take a free port in the second
 * before the server listens.
 */
const PORTS_EACH = 1_000;
const firstOfOurs = FIRST_PORT + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 22) * PORTS_EACH;
let taken = randomInt(PORTS_EACH);
/** `fetch` refuses it: https://fetch.spec.whatwg.org/#port-blocking. The others are lower. */
const BLOCKED_PORT = 10_080;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstOfOurs + (taken++ % PORTS_EACH);
    if (port !== BLOCKED_PORT && (await isFree(port))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await new Promise<boolean>((resolve) =>
    server.once('listening', () => resolve(true)).once('error', () => resolve(false)),
  );
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}

/** Deploys a source from code; throws with the server's answer if it refuses. */
export async function deploy(
  server: Pick<TestServer, 'api'>,
  code: string,
  options: { props?: Record<string, unknown>; name?: string; key?: string } = {},
): Promise<{ id: string; endpoint: string; name_slug: string }> {
  const answer = await server.api(
    'POST',
    '/sources',
    { component_code: code, configured_props: options.props ?? {}, ...(options.name && { name: options.name }) },
    options.key,
  );
  if (answer.status !== 200) throw new Error(`deploy: ${answer.status} ${answer.text}`);
  const { id, name_slug, configured_props: props } = answer.body.data;
  const http = Object.values(props as Record<string, { endpoint_url?: string } | null>).find((p) => p?.endpoint_url);
  return { id, name_slug, endpoint: http?.endpoint_url ?? '' };
}

/** A webhook with one subscription; answers the webhook. */
export async function subscribe(
  server: Pick<TestServer, 'api'>,
  emitterId: string,
  url: string,
  extra = '',
): Promise<{ id: string; secret: string }> {
  const webhook = await server.api('POST', `/webhooks?url=${encodeURIComponent(url)}&name=test&description=a+test`);
  if (webhook.status !== 200) throw new Error(`webhook: ${webhook.status} ${webhook.text}`);
  const { id } = webhook.body.data;
  const made = await server.api('POST', `/subscriptions?emitter_id=${emitterId}&listener_id=${id}${extra}`);
  if (made.status !== 200) throw new Error(`subscription: ${made.status} ${made.text}`);
  return webhook.body.data;
}

export async function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}
