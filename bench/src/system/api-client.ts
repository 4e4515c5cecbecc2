import type { System } from './boot-system.ts';

interface DeployedSource {
  id: string;
  endpointUrl: string;
}

export interface ApiClient {
  /** Default: without settings of its own. */
  deploySource(code: string, settings?: Record<string, unknown>): Promise<DeployedSource>;
  /** Answers the key of a new account; for the operator alone. */
  createAccount(name: string): Promise<string>;
  /** Suspends an account, or lets it go on; for the operator alone. */
  suspend(accountId: string, action: 'suspend' | 'resume'): Promise<void>;
  /** Answers the id of the saved component. */
  saveComponent(code: string): Promise<string>;
  /** Answers the id of the source. */
  deploySaved(componentId: string, configuredProps: Record<string, unknown>): Promise<string>;
  /**
   * A workflow of these actions, one after the other, that answers its HTTP trigger itself. Answers
   * its URL.
   */
  deployWorkflow(componentIds: readonly string[], props: Record<string, unknown>): Promise<string>;
  /** All that the source emitted, newest first. */
  events(sourceId: string): Promise<unknown[]>;
  /** A webhook at `url` that is subscribed to the source. */
  subscribe(sourceId: string, url: string): Promise<{ webhookId: string; secret: string }>;
  /** Deliveries of the webhook in the database. */
  countDeliveries(webhookId: string): Promise<number>;
  /** Statuses of the newest `limit` deliveries of the webhook. */
  deliveryStatuses(webhookId: string, limit: number): Promise<string[]>;
  /** Sum of all series of a metric; undefined when there is none. */
  metric(name: string, labels?: string): Promise<number | undefined>;
}

/** Largest page that the API returns. */
const PAGE = 100;

interface Answer {
  data?: unknown;
  page_info?: { total_count: number; count: number; end_cursor?: string | null };
}

/** Default: with the key of the first account. */
export function createApiClient(system: System, apiKey = system.apiKey): ApiClient {
  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${system.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Answer;
  }

  const deliveriesPath = (webhookId: string, limit: number) => `/webhooks/${webhookId}/deliveries?limit=${limit}`;
  return {
    async deploySource(code, settings = {}) {
      const { data } = await call('POST', '/sources', { component_code: code, ...settings });
      const { id, configured_props } = data as { id: string; configured_props: { http: { endpoint_url: string } } };
      return { id, endpointUrl: configured_props.http.endpoint_url };
    },
    async createAccount(name) {
      return ((await call('POST', '/accounts', { name })).data as { api_key: string }).api_key;
    },
    async suspend(accountId, action) {
      await call('POST', `/tenants/${accountId}/${action}`, {});
    },
    async saveComponent(code) {
      return ((await call('POST', '/components', { component_code: code })).data as { id: string }).id;
    },
    async deploySaved(componentId, configuredProps) {
      const parameters = { component_id: componentId, configured_props: configuredProps };
      return ((await call('POST', '/sources', parameters)).data as { id: string }).id;
    },
    async deployWorkflow(componentIds, props) {
      const steps = componentIds.map((id, i) => ({ namespace: `step_${i + 1}`, component_id: id, props }));
      const { data } = await call('POST', '/workflows', {
        name: `bench ${steps.length}`,
        triggers: [{ type: 'http', custom_response: true }],
        steps,
      });
      return (data as { triggers: [{ endpoint_url: string }] }).triggers[0].endpoint_url;
    },
    async events(sourceId) {
      const all: unknown[] = [];
      for (let after = ''; ; ) {
        const page = await call('GET', `/sources/${sourceId}/events?limit=100${after}`);
        all.push(...(page.data as { event: unknown }[]).map(({ event }) => event));
        const { end_cursor: end, count } = page.page_info ?? {};
        if (end === undefined || end === null || count === 0) return all;
        after = `&after=${end}`;
      }
    },
    async subscribe(sourceId, url) {
      const { data } = await call('POST', `/webhooks?url=${encodeURIComponent(url)}&name=bench`);
      const { id, secret } = data as { id: string; secret: string };
      await call('POST', `/subscriptions?emitter_id=${sourceId}&listener_id=${id}`);
      return { webhookId: id, secret };
    },
    async countDeliveries(webhookId) {
      let count = 0;
      let after = '';
      // `total_count` stops at some number.
      for (;;) {
        const { page_info: page } = await call('GET', `${deliveriesPath(webhookId, PAGE)}${after}`);
        if (page === undefined) return Number.NaN;
        count += page.count;
        if (page.count < PAGE) return count;
        after = `&after=${page.end_cursor}`;
      }
    },
    async deliveryStatuses(webhookId, limit) {
      const { data } = await call('GET', deliveriesPath(webhookId, limit));
      return (data as { status: string }[]).map((delivery) => delivery.status);
    },
    async metric(name, labels = '') {
      const response = await fetch(`${system.url}/metrics`, { headers: { authorization: `Bearer ${system.apiKey}` } });
      const lines = (await response.text()).split('\n');
      const series = lines.filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels));
      if (series.length === 0) return undefined;
      return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
  };
}
