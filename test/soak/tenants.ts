import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '../support/server.ts';

/** One account with everything that the soak looks at. */
export interface Tenant {
  apiKey: string;
  source: Deployed;
  timer: { id: string };
  workflow: Deployed;
  /** Its webhook has all subscriptions since then: later events are delivered. */
  subscribedAtMs: number;
}

interface Deployed {
  id: string;
  /** Path of its endpoint, the same at every node. */
  path: string;
}

export const STEPS = ['reserve', 'charge', 'confirm'] as const;

/** A tenth of the runs takes some time, so that kills find them under way. */
const SOURCE = `export default { name: 'Orders', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
  async run(event) {
    const { id, request, takesMs } = event.body;
    if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
    this.$emit({ id, request }, { id });
  } };`;

const TIMER = `export default { name: 'Clock', version: '1', props: { timer: '$.interface.timer' },
  run(event) { this.$emit({ tick: event.timestamp, run: Math.random() }); } };`;

/**
 * `begunAtMs` tells a step that began after its successor from a request of an earlier attempt that
 * a frozen node sent late.
 */
const stepCode = (step: string, url: string) => `export default { name: '${step}', version: '1', type: 'action',
  async run({ $, steps }) {
    const begunAtMs = Date.now();
    const { request } = steps.trigger.event.body;
    const body = JSON.stringify({ request, step: '${step}', execution: $.context.id, begunAtMs });
    const answer = await fetch('${url}', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    if (answer.status !== 200) throw new Error('the receiver answered ' + answer.status);
    return request;
  } };`;

export interface ReceiverUrls {
  hook: string;
  step: string;
}

/**
 * The first account comes with the API key of the nodes, the others are made with the operator's.
 */
export async function createTenants(
  nodeUrl: string,
  keys: { apiKey: string; adminKey: string },
  receivers: readonly ReceiverUrls[],
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (const [i, receiver] of receivers.entries()) {
    const made = i === 0 ? undefined : await call(nodeUrl, keys.adminKey, 'POST', '/accounts', { name: `soak ${i}` });
    const apiKey = made === undefined ? keys.apiKey : (made['api_key'] as string);
    tenants.push(await createTenant(nodeUrl, apiKey, receiver));
  }
  return tenants;
}

async function createTenant(nodeUrl: string, apiKey: string, receiver: ReceiverUrls): Promise<Tenant> {
  const post = (path: string, body: unknown) => call(nodeUrl, apiKey, 'POST', path, body);
  const source = await post('/sources', { component_code: SOURCE });
  const timer = await post('/sources', {
    component_code: TIMER,
    configured_props: { timer: { intervalSeconds: 1 } },
  });
  const workflow = await post('/workflows', {
    name: 'soak',
    triggers: [{ type: 'http' }],
    steps: STEPS.map((step) => ({ namespace: step, component_code: stepCode(step, receiver.step) })),
  });
  const webhook = await post('/webhooks', { url: receiver.hook, name: 'soak', description: 'of the soak' });
  for (const emitter of [source, timer]) {
    await post('/subscriptions', { emitter_id: emitter['id'], listener_id: webhook['id'] });
  }
  const { http } = source['configured_props'] as { http: { endpoint_url: string } };
  const [trigger] = workflow['triggers'] as [{ endpoint_url: string }];
  return {
    apiKey,
    source: { id: source['id'] as string, path: new URL(http.endpoint_url).pathname },
    timer: { id: timer['id'] as string },
    workflow: { id: workflow['id'] as string, path: new URL(trigger.endpoint_url).pathname },
    subscribedAtMs: Date.now(),
  };
}

const STOP_TRIES = 60;
const STOP_RETRY_MS = 1_000;

/**
 * Stops the timers, so that everything can come to an end. Any node will do. Rejects when none
 * does it.
 */
export async function stopTimers(nodeUrls: readonly string[], tenants: readonly Tenant[]): Promise<void> {
  for (const tenant of tenants) {
    for (let tries = 1; ; tries++) {
      const url = nodeUrls[tries % nodeUrls.length] as string;
      try {
        await call(url, tenant.apiKey, 'PUT', `/sources/${tenant.timer.id}`, { active: false });
        break;
      } catch (error) {
        if (tries === STOP_TRIES) throw error;
        await sleep(STOP_RETRY_MS);
      }
    }
  }
}

async function call(
  nodeUrl: string,
  key: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const answer = await callApi(`${nodeUrl}/v1${path}`, method, body, key);
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return (answer.body as { data: Record<string, unknown> }).data;
}
