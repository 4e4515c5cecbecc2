import { createApiClient } from '../api/client.ts';
import { useProxy } from '../api/use-proxy.ts';
import type { Component } from '../api/resources.ts';
import type { NamedKind } from '../command.ts';
import { chooseServer } from '../config/choose-server.ts';
import type { Profiles } from '../config/profiles.ts';
import type { CliEnvironment } from '../environment.ts';
import { KINDS } from '../names/named-kinds.ts';

/** The user has pressed Tab and waits. */
const TIMEOUT_MS = 1_500;

/** Names from the default login. Options on the incomplete line are ignored. */
export async function listNames(
  kind: NamedKind,
  { environment, profiles }: { environment: CliEnvironment; profiles: Profiles },
): Promise<string[]> {
  if (kind === 'profiles') return profiles.names();
  const { url, apiKey } = await chooseServer({}, environment, profiles);
  if (apiKey === undefined) return [];
  useProxy(url, environment.inherited);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const api = createApiClient({ url, apiKey, signal, timeoutMs: TIMEOUT_MS });
  if (kind === 'components') {
    const components = await api.all<Component>('/components');
    return [...new Set(components.flatMap(({ key }) => key ?? []))];
  }
  const named =
    await KINDS[({ sources: 'source', workflows: 'workflow', webhooks: 'webhook' } as const)[kind]].list(api);
  return named.map(({ slug, id }) => (slug === '' ? id : slug));
}
