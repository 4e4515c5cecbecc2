import type { HostileServer } from './hostile-server.ts';
import { ADMIN_KEY, type ApiAnswer, callApi } from './server.ts';

/** An account with the API as its owner has it. */
export interface Tenant {
  id: string;
  key: string;
  /** `path` without `/v1`. */
  api(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** Deploys a source; throws with the server's answer if it refuses. */
  deploy(code: string, props?: Record<string, unknown>): Promise<DeployedSource>;
}

export interface DeployedSource {
  id: string;
  /** Endpoint of its first HTTP prop; empty without one. */
  endpoint: string;
}

/** A new account with its first key. */
export async function makeTenant(server: HostileServer, name: string): Promise<Tenant> {
  const answer = await callApi(`${server.url}/v1/accounts`, 'POST', { name }, ADMIN_KEY);
  if (answer.status !== 200) throw new Error(`No account: ${answer.status} ${answer.text}`);
  const { id, api_key: key } = answer.body.data as { id: string; api_key: string };
  const tenant: Tenant = {
    id,
    key,
    api: (method, apiPath, body) => callApi(`${server.url}/v1${apiPath}`, method, body, key),
    async deploy(code, props) {
      const deployed = await tryDeploy(tenant, code, props);
      if (deployed.status !== 200) throw new Error(`Not deployed: ${deployed.status} ${deployed.text}`);
      return sourceOf(deployed);
    },
  };
  return tenant;
}

/** Subscribes the listener to the emitter's events. */
export async function subscribe(tenant: Tenant, emitterId: string, listenerId: string): Promise<void> {
  const made = await tenant.api('POST', '/subscriptions', { emitter_id: emitterId, listener_id: listenerId });
  if (made.status !== 200) throw new Error(`Not subscribed: ${made.status} ${made.text}`);
}

/** A webhook that gets what the source emits; answers its id. */
export async function addWebhook(tenant: Tenant, emitterId: string, url: string): Promise<string> {
  const made = await tenant.api('POST', '/webhooks', { url });
  if (made.status !== 200) throw new Error(`No webhook: ${made.status} ${made.text}`);
  const { id } = made.body.data as { id: string };
  await subscribe(tenant, emitterId, id);
  return id;
}

export function tryDeploy(tenant: Tenant, code: string, props: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return tenant.api('POST', '/sources', { component_code: code, configured_props: props });
}

function sourceOf(answer: ApiAnswer): DeployedSource {
  const { id, configured_props: props } = answer.body.data as { id: string; configured_props: Record<string, unknown> };
  const shown = Object.values(props) as ({ endpoint_url?: string } | null)[];
  return { id, endpoint: shown.find((prop) => prop?.endpoint_url)?.endpoint_url ?? '' };
}
