import type { DeliveryRecord, Engine, ExecutionRecord, KeyedRequest, RunResponse } from '../../engine/src/index.ts';
import { accountLimits, notFound } from '../../shared/src/index.ts';
import {
  ACCOUNT_ID,
  abandonedRun,
  MADE_AT,
  stripe,
  oauthClient,
  connectedAccount,
  autoSubscription,
  limitsRecord,
  endpointRoute,
  component,
  registered,
  imported,
  dataStore,
  storedRecord,
  source,
  send,
  s3Settings,
  webhook,
  workflow,
  deployment,
  stack,
  variable,
  replay,
  subscription,
} from './engine-records.ts';

const noStats = {
  received: 0,
  emitted: 0,
  runsOk: 0,
  runsFailed: 0,
  delivered: 0,
  failedAttempts: 0,
  exhausted: 0,
};

export const API_KEY = `hw_${'k'.repeat(32)}`;

/** Calls that reached the engine, in order: what the HTTP side made of a request. */
interface EngineCall {
  name: string;
  args: unknown[];
}

const execution: ExecutionRecord = {
  id: 'exec_1',
  workflowId: 'p_1',
  status: 'succeeded',
  kind: 'http',
  traceId: 'exec_1',
  event: { text: '{}' },
  steps: [],
};

const member = { id: 'u_user', email: 'ada@example.com', name: 'Ada', role: 'owner' as const, joinedAt: MADE_AT };
const invitation = {
  id: 'invite_1',
  email: 'grace@example.com',
  role: 'viewer' as const,
  invitedBy: 'u_user',
  createdAt: MADE_AT,
  expiresAt: MADE_AT,
};
const newInvitation = { ...invitation, link: 'https://hw.example.com/invitation#token=hw_invite_1', mailed: false };

const passkey = { id: 'psk_1', name: 'Laptop', transports: ['internal'], isBackedUp: true, createdAt: MADE_AT };

const emptyStream = { next: async () => undefined, close: () => undefined };

/**
 * Stands where the engine stands, to promise things about HTTP alone; whatever it is asked it
 * remembers.
 */
const delivery: DeliveryRecord = {
  id: 'dlv_1',
  webhookId: 'wh_1',
  emitterId: 'dc_1',
  eventId: '1763640000123-0',
  status: 'failed',
  errorClass: 'http_5xx',
  attempts: [{ at: '2025-11-20T12:00:00.123Z', status_code: 500, duration_ms: 3 }],
  createdAt: MADE_AT,
};

export function createRecordingEngine() {
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
      isKnown: (key) => key === API_KEY,
      me: answer('accounts.me', {
        id: 'u_user',
        username: 'ada',
        account: { id: ACCOUNT_ID, name: 'Home' },
        usage: { sources: 1, workflows: 0, webhooks: 2, subscriptions: 3 },
        limits: accountLimits(),
      }),
      listKeys: answer(
        'accounts.listKeys',
        page([{ id: 'key_1', name: 'first', hint: 'kkkk', scopes: ['full'], createdAt: MADE_AT }]),
      ),
      createKey: answer('accounts.createKey', {
        record: { id: 'key_2', name: 'second', hint: 'zzzz', scopes: ['full'], createdAt: MADE_AT },
        apiKey: 'hw_zzzz',
      }),
      rotateKey: answer('accounts.rotateKey', {
        record: { id: 'key_5', name: 'second', hint: 'rrrr', scopes: ['full' as const], createdAt: MADE_AT },
        apiKey: 'hw_rrrr',
      }),
      revokeKey: answer('accounts.revokeKey', undefined),
      createPortalKey: answer('accounts.createPortalKey', {
        record: {
          id: 'key_3',
          name: 'Link to the portal',
          hint: 'pppp',
          scopes: ['webhooks' as const],
          createdAt: MADE_AT,
        },
        apiKey: 'hw_pppp',
      }),
      createKeyOf: answer('accounts.createKeyOf', {
        record: { id: 'key_4', name: 'lost', hint: 'llll', scopes: ['full' as const], createdAt: MADE_AT },
        apiKey: 'hw_llll',
      }),
      list: answer('accounts.list', page([accountSummary])),
      get: answer('accounts.get', accountSummary),
      update: answer('accounts.update', accountSummary),
      suspend: answer('accounts.suspend', { ...accountSummary, suspendedAt: MADE_AT }),
      delete: answer('accounts.delete', { id: 'o_new', name: 'New', requestedAt: MADE_AT, deletedRows: 0 }),
      requireActive: async () => undefined,
      limits: answer('accounts.limits', limitsRecord),
      setLimits: answer('accounts.setLimits', limitsRecord),
      settings: answer('accounts.settings', { accountId: ACCOUNT_ID, traceContext: false }),
      changeSettings: answer('accounts.changeSettings', { accountId: ACCOUNT_ID, traceContext: true }),
    },
    archives: {
      async *export() {
        yield Buffer.from('{}\n');
        return undefined;
      },
      import: answer('archives.import', 'o_new'),
    },
    usage: {
      count: () => undefined,
      days: answer('usage.days', { accountId: ACCOUNT_ID, sinceMs: 0, untilMs: 86_400_000, totals: USED, days: [] }),
    },
    sessions: {
      begin: (apiKey) => ({ token: `sealed-${apiKey}`, expiresAt: MADE_AT }),
      keyOf: (token) => token.replace('sealed-', ''),
      makeStreamToken: (apiKey) => `stream-${apiKey}`,
      streamKeyOf: (token) => token.replace('stream-', ''),
    },
    people: {
      members: answer('people.members', [member]),
      setRole: answer('people.setRole', member),
      remove: answer('people.remove', undefined),
      invitations: answer('people.invitations', [invitation]),
      invite: answer('people.invite', newInvitation),
      inviteTo: answer('people.inviteTo', newInvitation),
      revokeInvitation: answer('people.revokeInvitation', undefined),
      openInvitation: answer('people.openInvitation', { accountName: 'Home', ...invitation }),
      accept: answer('people.accept', {
        bearer: API_KEY,
        who: { accountId: ACCOUNT_ID, userId: 'u_user' },
      }),
      signIn: answer('people.signIn', { bearer: API_KEY, who: { accountId: ACCOUNT_ID, userId: 'u_user' } }),
      signInMethods: () => ({ passwordReset: true, oidc: { name: 'login.example.com' } }),
      beginOidc: answer('people.beginOidc', { url: 'https://login.example.com/auth', flow: 'flow' }),
      finishOidc: answer('people.finishOidc', {
        bearer: API_KEY,
        who: { accountId: ACCOUNT_ID, userId: 'u_user' },
        from: '/',
      }),
      requestPasswordReset: answer('people.requestPasswordReset', undefined),
      resetPassword: answer('people.resetPassword', {
        bearer: API_KEY,
        who: { accountId: ACCOUNT_ID, userId: 'u_user' },
      }),
      usersOf: async () => [],
      passkeys: answer('people.passkeys', [passkey]),
      beginPasskey: answer('people.beginPasskey', {
        challenge: 'Y2hhbGxlbmdl',
        flow: 'flow',
        person: { id: 'per_one', email: 'ada@example.com', name: 'Ada' },
        known: [],
      }),
      addPasskey: answer('people.addPasskey', passkey),
      renamePasskey: answer('people.renamePasskey', passkey),
      removePasskey: answer('people.removePasskey', undefined),
      beginPasskeySignIn: () => ({ challenge: 'Y2hhbGxlbmdl', flow: 'flow' }),
      signInWithPasskey: answer('people.signInWithPasskey', {
        bearer: API_KEY,
        who: { accountId: ACCOUNT_ID, userId: 'u_user' },
      }),
      signOut: answer('people.signOut', undefined),
      sessions: answer('people.sessions', []),
      endSession: answer('people.endSession', undefined),
      changePassword: answer('people.changePassword', undefined),
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
      getRecord: answer('dataStores.getRecord', { ...storedRecord, tag: 'a' }),
      putRecord: answer('dataStores.putRecord', { ...storedRecord, tag: 'a' }),
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
      runsWithQuiet: answer('sources.runsWithQuiet', page([])),
    },
    workflows: {
      create: answer('workflows.create', workflow),
      get: answer('workflows.get', workflow),
      list: answer('workflows.list', page([workflow])),
      update: answer('workflows.update', workflow),
      deploy: answer('workflows.deploy', workflow),
      delete: answer('workflows.delete', undefined),
      run: answer('workflows.run', { executionId: 'exec_1' }),
      deployments: answer('workflows.deployments', page([deployment])),
    },
    stacks: {
      list: answer('stacks.list', [stack]),
      get: answer('stacks.get', stack),
      put: answer('stacks.put', stack),
      delete: answer('stacks.delete', undefined),
    },
    environment: {
      list: answer('environment.list', page([variable])),
      get: answer('environment.get', variable),
      put: answer('environment.put', variable),
      delete: answer('environment.delete', undefined),
    },
    events: {
      recent: answer('events.recent', (_who: unknown, _id: string, { expand }: { expand: boolean }) =>
        page([
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
      ),
      history: answer('events.history', page([])),
      search: answer('events.search', page([])),
      logLines: answer('events.logLines', { lines: [], readChars: 0 }),
      delete: answer('events.delete', undefined),
    },
    executions: {
      list: answer('executions.list', page([])),
      get: answer('executions.get', execution),
      replay: answer('executions.replay', { executionId: 'exec_2' }),
      retry: answer('executions.retry', 2),
      resumeWaiting: answer('executions.resumeWaiting', undefined),
      cancel: answer('executions.cancel', undefined),
      waitingFor: answer('executions.waitingFor', 'o_1'),
      resume: answer('executions.resume', true),
      cancelByToken: answer('executions.cancelByToken', true),
    },
    traces: { get: answer('traces.get', { id: 'inv_1', isCut: false, runs: [] }) },
    sampleReceiver: {
      url: answer('sampleReceiver.url', 'http://127.0.0.1:3000/sample-receiver/key'),
      requests: answer('sampleReceiver.requests', page([])),
      clear: answer('sampleReceiver.clear', undefined),
    },
    operator: {
      nodes: answer('operator.nodes', []),
      accounts: answer('operator.accounts', { sinceMs: 0, untilMs: 0, stepSeconds: 60, accounts: [] }),
    },
    stats: {
      waiting: answer('stats.waiting', { run: undefined, delivery: undefined }),
      series: answer('stats.series', { sinceMs: 0, untilMs: 0, stepSeconds: 60, totals: noStats, buckets: [] }),
      subjects: answer('stats.subjects', { sinceMs: 0, untilMs: 0, stepSeconds: 60, subjects: [] }),
    },
    streams: {
      events: answer('streams.events', emptyStream),
      logs: answer('streams.logs', emptyStream),
      end: () => undefined,
    },
    publisher: {
      publish: answer('publisher.publish', {
        sourceId: 'dc_1',
        traceId: 'inv_1',
        events: [
          {
            id: '1763640000123-0',
            emitId: 'dc_1-1763640000123-0',
            messageId: 'evt_1_1763640000123_0',
            isDuplicate: false,
          },
        ],
      }),
    },
    tunnels: {
      create: answer('tunnels.create', webhook),
      listen: answer('tunnels.listen', emptyStream),
      answer: answer('tunnels.answer', undefined),
    },
    idempotency: {
      begin: answer('idempotency.begin', (request: KeyedRequest) => ({
        kind: 'begun' as const,
        claim: { ...request, claimId: 'claim' },
      })),
      end: answer('idempotency.end', undefined),
      release: answer('idempotency.release', undefined),
    },
    audit: { change: (_, make) => make(), list: answer('audit.list', page([])) },
    abandonedRuns: {
      list: answer('abandonedRuns.list', page([abandonedRun])),
      retry: answer('abandonedRuns.retry', 1),
      retryAll: answer('abandonedRuns.retryAll', 2),
    },
    webhooks: {
      create: answer('webhooks.create', webhook),
      get: answer('webhooks.get', webhook),
      list: answer('webhooks.list', page([webhook])),
      update: answer('webhooks.update', webhook),
      delete: answer('webhooks.delete', undefined),
      deliveries: answer('webhooks.deliveries', page([])),
      delivery: answer('webhooks.delivery', delivery),
      health: answer('webhooks.health', {
        deliveries: 1,
        attempts: 1,
        latencyMs: { p50: 3, p95: 3 },
        statusClasses: { http_2xx: 1, http_3xx: 0, http_4xx: 0, http_5xx: 0, none: 0 },
        backlog: 0,
      }),
      attempt: answer('webhooks.attempt', {
        delivery,
        attempt: { at: MADE_AT.toISOString(), status_code: 204, duration_ms: 3 },
        body: Buffer.from('ok'),
      }),
      redeliver: answer('webhooks.redeliver', 0),
      redeliverMatching: answer('webhooks.redeliverMatching', { count: 0 }),
      countRedeliverable: answer('webhooks.countRedeliverable', 0),
      retryNow: answer('webhooks.retryNow', { count: 0 }),
      discard: answer('webhooks.discard', 0),
      skip: answer('webhooks.skip', delivery),
      rotateSecret: answer('webhooks.rotateSecret', webhook),
      test: answer('webhooks.test', {
        messageId: 'evt_test_1606511826306_0',
        delivered: true,
        attempt: { at: MADE_AT.toISOString(), status_code: 204, duration_ms: 3 },
      }),
      previewTransform: answer('webhooks.previewTransform', []),
    },
    subscriptions: {
      create: answer('subscriptions.create', subscription),
      get: answer('subscriptions.get', { ...subscription, tag: 'a' }),
      update: answer('subscriptions.update', { ...subscription, tag: 'a' }),
      list: answer('subscriptions.list', page([subscription])),
      delete: answer('subscriptions.delete', undefined),
      emitters: answer('subscriptions.emitters', page([{ id: 'dc_1', name: 'Orders' }])),
    },
    replays: {
      create: answer('replays.create', replay),
      list: answer('replays.list', page([replay])),
      get: answer('replays.get', replay),
      cancel: answer('replays.cancel', replay),
    },
    workflowTests: {
      run: answer('workflowTests.run', {
        deploymentId: 'd_1',
        status: 'succeeded' as const,
        event: '{}',
        context: '{}',
        steps: [],
      }),
    },
    apps: {
      list: answer('apps.list', page([stripe])),
      get: answer('apps.get', stripe),
      create: answer('apps.create', stripe),
      replace: answer('apps.replace', stripe),
      delete: answer('apps.delete', undefined),
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
      getWithCredentials: answer('connectedAccounts.getWithCredentials', {
        account: connectedAccount,
        credentials: { api_key: 'secret' },
      }),
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
    sends: {
      list: answer('sends.list', page([send])),
      retry: answer('sends.retry', send),
      s3Settings: answer('sends.s3Settings', s3Settings),
      setS3: answer('sends.setS3', s3Settings),
      deleteS3: answer('sends.deleteS3', undefined),
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
      endWaits: () => undefined,
      endAnswers: () => undefined,
    },
    problems: async () => ((await behaviour.ready()) ? [] : ['The database is read-only']),
    metrics: async () => '# HELP headwater_test a\nheadwater_test 1\n',
    drain: () => undefined,
    stop: async () => undefined,
  };
  return { engine, calls, accepted, behaviour };
}

const USED = {
  requests: 1,
  runs: 1,
  runMs: 5,
  cpuMs: 2,
  events: 1,
  deliveries: 0,
  attempts: 0,
  bytesIn: 10,
  bytesOut: 0,
  storageBytes: 0,
};

const accountSummary = {
  id: 'o_new',
  name: 'New',
  email: 'ada@example.com',
  sources: 1,
  workflows: 0,
  webhooks: 0,
  historyBytes: 0,
  usedThisMonth: USED,
  createdAt: MADE_AT,
};
