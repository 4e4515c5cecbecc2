import type {
  AbandonedRunRecord,
  AccountLimitsRecord,
  DeploymentRecord,
  EnvironmentVariable,
  StackRecord,
  WorkflowRecord,
  DataStoreRecord,
  S3SettingsRecord,
  SendRecord,
  EndpointRoute,
  SourceRecord,
  WebhookRecord,
} from '../../engine/src/index.ts';
import { accountLimits } from '../../shared/src/index.ts';

export const ACCOUNT_ID = 'o_account';
export const MADE_AT = new Date('2026-11-20T12:00:00.900Z');

export const stripe = {
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

export const oauthClient = {
  app: { id: 'app_1', nameSlug: 'stripe', name: 'Stripe' },
  clientId: 'client',
  hasSecret: true,
  updatedAt: MADE_AT,
};

export const connectedAccount = {
  id: 'apn_1',
  userId: 'u_user',
  app: { id: 'app_1', slug: 'stripe', name: 'Stripe', authType: 'keys' as const },
  scopes: [],
  state: 'healthy' as const,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const autoSubscription = { id: 'asub_1', listenerId: 'wh_1', eventName: '', filter: null, createdAt: MADE_AT };

export const limitsRecord: AccountLimitsRecord = {
  accountId: ACCOUNT_ID,
  limits: accountLimits({ runCpuMs: 500 }),
  defaults: accountLimits(),
  set: { runCpuMs: 500 },
  tag: 'a',
  history: { bytes: 4_096, keptFrom: MADE_AT },
};

export const send: SendRecord = {
  id: 'snd_1',
  kind: 'http',
  workflowId: 'p_1',
  executionId: 'exec_1',
  traceId: 'exec_1',
  status: 'failed',
  payload: '{"url":"https://example.com/"}',
  attempts: [{ at: MADE_AT.toISOString(), status_code: 404, duration_ms: 12 }],
  createdAt: MADE_AT,
};

export const s3Settings: S3SettingsRecord = { region: 'eu-central-1', accessKeyId: 'AKIA', updatedAt: MADE_AT };

export const endpointRoute: EndpointRoute = {
  accountId: ACCOUNT_ID,
  sourceId: 'dc_1',
  propName: 'http',
  customResponse: false,
  preflight: 'allow',
  durability: 'stored',
};

export const component = {
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

export const registered = { ...component, key: 'http-bin', versions: ['0.0.1'], publishedAt: MADE_AT };

export const imported = { id: 'imp_1', scope: 'account' as const, total: 0, components: [], createdAt: MADE_AT };

export const dataStore: DataStoreRecord = {
  id: 'ds_1',
  name: 'Shared',
  recordCount: 1,
  bytes: 70,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const storedRecord = { key: 'a', valueJson: '1', updatedAt: MADE_AT };

export const source: SourceRecord = {
  id: 'dc_1',
  userId: 'u_user',
  componentId: 'sc_1',
  name: 'Bin',
  nameSlug: 'bin',
  active: true,
  configuredProps: { http: { endpoint_url: 'http://127.0.0.1/e/known' } },
  configurableProps: [{ name: 'http', type: '$.interface.http' }],
  preflight: 'allow',
  durability: 'stored',
  revision: 3,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const abandonedRun: AbandonedRunRecord = {
  id: 'inv_1',
  sourceId: 'dc_1',
  kind: 'http',
  traceId: 'inv_1',
  event: { text: '{}' },
  message: 'The sandbox process ended',
  abandonedAt: MADE_AT,
};

export const workflow: WorkflowRecord = {
  id: 'p_1',
  userId: 'u_user',
  name: 'Orders',
  nameSlug: 'orders',
  active: true,
  deploymentId: 'd_1',
  version: 1,
  latestDeploymentId: 'd_1',
  triggers: [
    { id: 'hi_1', type: 'http', endpointUrl: 'http://localhost:3000/e/abc', customResponse: false },
    { id: 'ti_1', type: 'timer', schedule: { cron: '0 9 * * *', timezone: 'Europe/Paris' } },
    { id: 'dc_1', type: 'source', sourceId: 'dc_1', eventName: '', deployed: true },
  ],
  steps: [
    {
      id: 'c_1',
      namespace: 'greet',
      componentId: 'sc_1',
      configuredProps: {},
      configurableProps: [],
      onError: 'fail' as const,
    },
  ],
  settings: { timeoutSeconds: 60, memoryMb: 128, retries: 0, autoDeploy: true },
  revision: 3,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const deployment: DeploymentRecord = { id: 'd_1', version: 1, isCurrent: true, createdAt: MADE_AT };

export const stack: StackRecord = {
  name: 'shop',
  resources: [{ kind: 'source', key: 'orders', id: 'dc_1', secrets: 'a:b' }],
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const variable: EnvironmentVariable = { name: 'TOKEN', createdAt: MADE_AT, updatedAt: MADE_AT };

export const webhook: WebhookRecord = {
  id: 'wh_1',
  userId: 'u_user',
  url: 'https://example.com/hook',
  format: 'raw',
  signature: 'v1',
  secret: 'whsec_c2VjcmV0',
  headers: {},
  ordering: 'none' as const,
  adaptiveRate: false,
  request: {},
  active: true,
  revision: 3,
  createdAt: MADE_AT,
  updatedAt: MADE_AT,
};

export const subscription = {
  id: 'sub_1',
  emitterId: 'dc_1',
  listenerId: 'wh_1',
  eventName: '',
  filter: null,
  createdAt: MADE_AT,
};

export const replay = {
  id: 'rpl_1',
  status: 'running' as const,
  emitterId: 'dc_1',
  listenerId: 'wh_1',
  filter: null,
  until: MADE_AT,
  count: 3,
  isCountComplete: true,
  deliveredBefore: 1,
  sent: 2,
  createdAt: MADE_AT,
};
