import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import {
  createApp,
  createHttpMetrics,
  createIngestHandler,
  type HttpServer,
  type Log,
  startHttpServer,
} from '../../api/src/index.ts';
import type {
  AccountLimitsRecord,
  DataStoreRecord,
  EndpointRoute,
  Engine,
  RunResponse,
  SourceRecord,
  WebhookRecord,
} from '../../engine/src/index.ts';
import { accountLimits, notFound } from '../../shared/src/index.ts';
import { testLog } from './logs.ts';

export const API_KEY = `hw_${'k'.repeat(32)}`;
export const ADMIN_KEY = `hw_admin_${'a'.repeat(32)}`;
export const ACCOUNT_ID = 'o_account';
const MADE_AT = new Date('2026-11-20T12:00:00.900Z');
export const MADE_AT_SECONDS = 1_795_176_000;

/** Calls that reached the engine, in order: what the HTTP side made of a request. */
interface EngineCall {
  name: string;
  args: unknown[];
}

/** Stands where the engine stands, to promise things about HTTP alone; whatever it is asked it remembers. */
function createRecordingEngine() {
  const calls: EngineCall[] = [];
  const accepted: string[] = [];
  const behaviour: {
    ready: () => Promise<boolean>;
    response: RunResponse | undefined;
    admitFailure: Error | undefined;
    acceptFailure: Error | undefined;
    fail: Error | undefined;
    eventData: string;
  } = {
    ready: async () => true,
    response: undefined,
    admitFailure: undefined,
    acceptFailure: undefined,
    fail: undefined,
    eventData: '{}',
  };
  const answer =
    <T>(name: string, value: T | ((...args: never[]) => T)) =>
    async (...args: unknown[]): Promise<T> => {
      calls.push({ name, args });
      JSON.stringify(args); // as a store would: it throws for what cannot be kept
      if (behaviour.fail !== undefined) throw behaviour.fail;
      return typeof value === 'function' ? (value as (...all: unknown[]) => T)(...args) : value;
    };
  const page = <T>(items: T[]) => ({ items, total: 7, startCursor: 'first', endCursor: 'last' });
  const engine: Engine = {
    accounts: {
      create: answer('accounts.create', {
        account: { id: 'o_new', name: 'New' },
        user: { id: 'u_new' },
        apiKey: 'hw_x',
      }),
      authenticate: async (key) => (key === API_KEY ? { accountId: ACCOUNT_ID, userId: 'u_user' } : undefined),
      me: answer('accounts.me', {
        id: 'u_user',
        username: 'ada',
        account: { id: ACCOUNT_ID, name: 'Home' },
        usage: { sources: 1, webhooks: 2, subscriptions: 3 },
      }),
      listKeys: answer('accounts.listKeys', [{ id: 'key_1', name: 'first', hint: 'kkkk', createdAt: MADE_AT }]),
      createKey: answer('accounts.createKey', {
        record: { id: 'key_2', name: 'second', hint: 'zzzz', createdAt: MADE_AT },
        apiKey: 'hw_zzzz',
      }),
      revokeKey: answer('accounts.revokeKey', undefined),
      list: answer('accounts.list', page([{ id: 'o_new', name: 'New', sources: 1, createdAt: MADE_AT }])),
      limits: answer('accounts.limits', limitsRecord),
      setLimits: answer('accounts.setLimits', limitsRecord),
    },
    components: {
      save: answer('components.save', component),
      get: answer('components.get', component),
      obtain: answer('components.obtain', component),
      list: answer('components.list', page([component])),
      delete: answer('components.delete', undefined),
      publish: answer('components.publish', component),
      unpublish: answer('components.unpublish', component),
    },
    registry: {
      search: answer('registry.search', page([registered])),
      get: answer('registry.get', registered),
      publish: answer('registry.publish', registered),
      publishForOperator: answer('registry.publishForOperator', registered),
      withdraw: answer('registry.withdraw', registered),
      withdrawForOperator: answer('registry.withdrawForOperator', registered),
    },
    imports: {
      start: answer('imports.start', imported),
      get: answer('imports.get', imported),
    },
    componentProps: {
      options: answer('componentProps.options', { options: [{ label: 'One', value: 1 }] }),
      dynamicProps: answer('componentProps.dynamicProps', { id: 'dyp_1', configurableProps: [] }),
    },
    dataStores: {
      create: answer('dataStores.create', dataStore),
      get: answer('dataStores.get', dataStore),
      list: answer('dataStores.list', page([dataStore])),
      update: answer('dataStores.update', dataStore),
      delete: answer('dataStores.delete', undefined),
      records: answer('dataStores.records', page([storedRecord])),
      getRecord: answer('dataStores.getRecord', storedRecord),
      putRecord: answer('dataStores.putRecord', storedRecord),
      deleteRecord: answer('dataStores.deleteRecord', undefined),
      clear: answer('dataStores.clear', undefined),
    },
    sources: {
      create: answer('sources.create', source),
      get: answer('sources.get', (_who: unknown, id: string) => {
        if (id !== source.id) throw notFound('source', id);
        return source;
      }),
      list: answer('sources.list', page([source, { ...source, id: 'dc_2' }])),
      update: answer('sources.update', source),
      delete: answer('sources.delete', undefined),
      run: answer('sources.run', { invocationId: 'inv_1' }),
      runs: answer('sources.runs', []),
    },
    events: {
      recent: answer('events.recent', (_who: unknown, _id: string, { expand }: { expand: boolean }) => [
        {
          id: '1763640000123-0',
          indexedAtMs: 1_763_640_000_123,
          emitterId: source.id,
          channel: '',
          data: behaviour.eventData,
          ...(expand ? {} : { isCut: true as const }),
          emitId: 'a1',
        },
      ]),
      history: answer('events.history', page([])),
      logLines: answer('events.logLines', []),
      delete: answer('events.delete', undefined),
    },
    webhooks: {
      create: answer('webhooks.create', webhook),
      get: answer('webhooks.get', webhook),
      list: answer('webhooks.list', page([webhook])),
      update: answer('webhooks.update', webhook),
      delete: answer('webhooks.delete', undefined),
      deliveries: answer('webhooks.deliveries', page([])),
    },
    subscriptions: {
      create: answer('subscriptions.create', subscription),
      list: answer('subscriptions.list', page([subscription])),
      delete: answer('subscriptions.delete', undefined),
    },
    apps: {
      list: answer('apps.list', page([stripe])),
      get: answer('apps.get', stripe),
      create: answer('apps.create', stripe),
      replace: answer('apps.replace', stripe),
      setInstanceClient: answer('apps.setInstanceClient', oauthClient),
      deleteInstanceClient: answer('apps.deleteInstanceClient', undefined),
      setOwnClient: answer('apps.setOwnClient', oauthClient),
      deleteOwnClient: answer('apps.deleteOwnClient', undefined),
      listOwnClients: answer('apps.listOwnClients', [oauthClient]),
    },
    connectedAccounts: {
      create: answer('connectedAccounts.create', connectedAccount),
      list: answer('connectedAccounts.list', page([connectedAccount])),
      get: answer('connectedAccounts.get', connectedAccount),
      credentials: answer('connectedAccounts.credentials', { api_key: 'secret' }),
      update: answer('connectedAccounts.update', connectedAccount),
      check: answer('connectedAccounts.check', { account: connectedAccount, conclusive: true, detail: 'ok' }),
      delete: answer('connectedAccounts.delete', {
        id: 'apn_1',
        revocation: { status: 'not-supported' as const, detail: 'none' },
      }),
      startOAuth: answer('connectedAccounts.startOAuth', { authorizeUrl: 'https://example.com', expiresAt: MADE_AT }),
      finishOAuth: answer('connectedAccounts.finishOAuth', {
        ok: true as const,
        account: connectedAccount,
        workspace: 'Home',
      }),
    },
    autoSubscriptions: {
      create: answer('autoSubscriptions.create', autoSubscription),
      list: answer('autoSubscriptions.list', page([autoSubscription])),
      delete: answer('autoSubscriptions.delete', undefined),
    },
    ingest: {
      route: async (key) => (key.startsWith('known') ? endpointRoute : undefined),
      admit: () => {
        if (behaviour.admitFailure !== undefined) throw behaviour.admitFailure;
      },
      accept: async (_route, event) => {
        if (behaviour.acceptFailure !== undefined) throw behaviour.acceptFailure;
        accepted.push(event);
        const response = behaviour.response;
        return { invocationId: 'inv_1', ...(response === undefined ? {} : { response: Promise.resolve(response) }) };
      },
    },
    ready: () => behaviour.ready(),
    metrics: async () => '# HELP headwater_test a\nheadwater_test 1\n',
    stop: async () => undefined,
  };
  return { engine, calls, accepted, behaviour };
}

const stripe = {
  id: 'app_1',
  definition: {
    slug: 'stripe',
    name: 'Stripe',
    authType: 'keys' as const,
    fields: [{ name: 'api_key', label: 'Key' }],
  },
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const oauthClient = {
  app: { id: 'app_1', slug: 'stripe', name: 'Stripe' },
  clientId: 'client',
  hasSecret: true,
  updatedAt: MADE_AT,
};

const connectedAccount = {
  id: 'apn_1',
  userId: 'u_user',
  app: { id: 'app_1', slug: 'stripe', name: 'Stripe', authType: 'keys' as const },
  scopes: [],
  state: 'healthy' as const,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const autoSubscription = { id: 'asub_1', listenerId: 'wh_1', eventName: '', createdAt: MADE_AT };

const limitsRecord: AccountLimitsRecord = {
  accountId: ACCOUNT_ID,
  limits: accountLimits({ runCpuMs: 500 }),
  defaults: accountLimits(),
  set: { runCpuMs: 500 },
};

const endpointRoute: EndpointRoute = {
  accountId: ACCOUNT_ID,
  sourceId: 'dc_1',
  propName: 'http',
  customResponse: false,
};

const component = {
  id: 'sc_1',
  name: 'Bin',
  version: '0.0.1',
  type: 'source' as const,
  code: 'export default {}',
  codeHash: 'abc',
  configurableProps: [{ name: 'http', type: '$.interface.http' }],
  hasAdditionalProps: false,
  dependencies: { ms: '2.1.3' },
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const registered = { ...component, key: 'http-bin', versions: ['0.0.1'], publishedAt: MADE_AT };

const imported = { id: 'imp_1', scope: 'account' as const, total: 0, components: [], createdAt: MADE_AT };

const dataStore: DataStoreRecord = {
  id: 'ds_1',
  name: 'Shared',
  recordCount: 1,
  bytes: 70,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const storedRecord = { key: 'a', value: 1, updatedAt: MADE_AT };

const source: SourceRecord = {
  id: 'dc_1',
  userId: 'u_user',
  componentId: 'sc_1',
  name: 'Bin',
  nameSlug: 'bin',
  active: true,
  configuredProps: { http: { endpoint_url: 'http://127.0.0.1/e/known' } },
  configurableProps: [{ name: 'http', type: '$.interface.http' }],
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const webhook: WebhookRecord = {
  id: 'wh_1',
  userId: 'u_user',
  url: 'https://example.com/hook',
  format: 'raw',
  secret: 'whsec_c2VjcmV0',
  active: true,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

const subscription = { id: 'sub_1', emitterId: 'dc_1', listenerId: 'wh_1', eventName: '', createdAt: MADE_AT };

export type CallInit = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

export interface TestServer extends ReturnType<typeof createRecordingEngine> {
  url: string;
  port: number;
  server: HttpServer;
  /** A call with the key of the account; `init` overrides. */
  call(path: string, init?: CallInit): Promise<Response>;
}

/** Keeps what is logged, for tests that promise a log line. */
export function createMemoryLog() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const keep = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** The whole HTTP side on a free loopback port. */
export async function startTestServer(
  options: { log?: Log; endpointDomain?: string; adminKey?: string } = {},
): Promise<TestServer> {
  const recording = createRecordingEngine();
  const log = options.log ?? testLog;
  const metrics = createHttpMetrics();
  const { engine } = recording;
  const app = createApp({
    engine,
    publicUrl: 'http://127.0.0.1',
    log,
    metrics,
    adminKey: options.adminKey ?? ADMIN_KEY,
  });
  const ingest = createIngestHandler({ engine, log, metrics });
  const server = await startHttpServer({
    app,
    ingest,
    host: '127.0.0.1',
    port: 0,
    ...(options.endpointDomain === undefined ? {} : { endpointDomain: options.endpointDomain }),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const call = (path: string, init: CallInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${API_KEY}`, ...init.headers } });
  return { ...recording, url, port: server.port, server, call };
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A request that fetch would not make: the path as it is, repeated headers, any method, a body in chunks. */
export function rawRequest(
  port: number,
  options: { method?: string; path: string; headers?: Record<string, string | string[]>; body?: (string | Buffer)[] },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, body = [] } = options;
    // For GET and DELETE node would send the body without saying that there is one.
    const framing = body.length > 0 && options.headers?.['content-length'] === undefined;
    const headers = { ...options.headers, ...(framing ? { 'transfer-encoding': 'chunked' } : {}) };
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    for (const chunk of body) request.write(chunk);
    request.end();
  });
}

/** The problem document of an answer, after checking that it is one. */
export async function readProblem(response: Response): Promise<Record<string, unknown>> {
  if (response.headers.get('content-type') !== 'application/problem+json') throw new Error('not a problem document');
  const problem = (await response.json()) as Record<string, unknown>;
  const { status, error, detail, request_id: requestId } = problem;
  if (status !== response.status || error !== detail || requestId !== response.headers.get('x-request-id')) {
    throw new Error(`an inconsistent problem document: ${JSON.stringify(problem)}`);
  }
  return problem;
}

/** A POST with a JSON body. */
export function postJson(body: unknown): CallInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
