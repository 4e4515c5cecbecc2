import { type ApiData, callAnyNode, callNode } from './api-calls.ts';
import { ASKED, NOTES, numbersCode, ORDERS, stepsOf, TIMER, waitingStepsOf } from './components.ts';
import { FILTERED } from './expected.ts';
import type { Target } from './records.ts';

/** One account with everything that the soak looks at. */
export interface Tenant {
  apiKey: string;
  /** Sources and workflows that requests go to. */
  targets: Readonly<Record<Target, Deployed>>;
  timer: { id: string };
  /** The one that is stopped and started. */
  switchedWebhookId: string;
  /** Its webhooks have all subscriptions since then: later events are delivered. */
  subscribedAtMs: number;
}

interface Deployed {
  id: string;
  /** Path of its endpoint, the same at every node. */
  path: string;
}

export interface ReceiverUrls {
  /** URL of the webhook with this name. */
  hook: (name: string) => string;
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
    const account = { key: keys.adminKey, method: 'POST', path: '/accounts', body: { name: `soak ${i}` } };
    const made = i === 0 ? undefined : await callNode(nodeUrl, account);
    const apiKey = made === undefined ? keys.apiKey : (made['api_key'] as string);
    tenants.push(await createTenant(nodeUrl, apiKey, receiver));
  }
  return tenants;
}

type Post = (path: string, body: unknown) => Promise<ApiData>;

async function createTenant(nodeUrl: string, key: string, receiver: ReceiverUrls): Promise<Tenant> {
  const post: Post = (path, body) => callNode(nodeUrl, { key, method: 'POST', path, body });
  const targets = {
    source: await deploySource(post, ORDERS),
    notes: await deploySource(post, NOTES),
    greatest: await deploySource(post, numbersCode('greatest')),
    last: await deploySource(post, numbersCode('last')),
    asked: await deploySource(post, ASKED),
    workflow: await deployWorkflow(post, 'soak', stepsOf(receiver.step)),
    waits: await deployWorkflow(post, 'waits', waitingStepsOf(receiver.step)),
  };
  const timer = await post('/sources', {
    component_code: TIMER,
    configured_props: { timer: { intervalSeconds: 1 } },
  });
  const listen = async (name: string, emitterIds: readonly string[], settings = {}, subscription = {}) => {
    const webhook = await post('/webhooks', { url: receiver.hook(name), name, ...settings });
    for (const id of emitterIds)
      await post('/subscriptions', { emitter_id: id, listener_id: webhook['id'], ...subscription });
    return webhook['id'] as string;
  };
  const { notes } = targets;
  const all = { event_name: '*' };
  await listen('plain', [targets.source.id, timer['id'] as string]);
  await listen('fifo', [notes.id], { ordering: 'fifo' }, all);
  await listen('fifo-by-key', [notes.id], { ordering: 'fifo', ordering_key: 'key' }, all);
  await listen('filtered', [notes.id], {}, FILTERED);
  const switchedWebhookId = await listen('switched', [notes.id], {}, all);
  return { apiKey: key, targets, timer: { id: timer['id'] as string }, switchedWebhookId, subscribedAtMs: Date.now() };
}

async function deploySource(post: Post, code: string): Promise<Deployed> {
  const source = await post('/sources', { component_code: code });
  const { http } = source['configured_props'] as { http: { endpoint_url: string } };
  return { id: source['id'] as string, path: new URL(http.endpoint_url).pathname };
}

async function deployWorkflow(post: Post, name: string, steps: unknown): Promise<Deployed> {
  const workflow = await post('/workflows', { name, triggers: [{ type: 'http' }], steps });
  const [trigger] = workflow['triggers'] as [{ endpoint_url: string }];
  return { id: workflow['id'] as string, path: new URL(trigger.endpoint_url).pathname };
}

const TRIES = 60;

/**
 * Stops the timers and starts every webhook, so that everything can come to an end. Rejects when no
 * node does it.
 */
export async function bringToRest(nodeUrls: readonly string[], tenants: readonly Tenant[]): Promise<void> {
  for (const { apiKey: key, timer, switchedWebhookId } of tenants) {
    const put = (path: string, body: unknown) =>
      callAnyNode(nodeUrls, { key, method: 'PUT', path, body }, { tries: TRIES });
    await put(`/sources/${timer.id}`, { active: false });
    await put(`/webhooks/${switchedWebhookId}`, { active: true });
  }
}
