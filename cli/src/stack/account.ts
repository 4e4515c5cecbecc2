import type { Subscription } from '@headwater/shared/contract';
import type { ApiClient } from '../api/client.ts';
import type {
  Component,
  ConnectedAccount,
  EnvironmentVariable,
  Source,
  User,
  Webhook,
  Workflow,
} from '../api/resources.ts';
import type { Fields } from './stack-file.ts';

export interface DataStore {
  id: string;
  name: string;
  description: string | null;
}

/** The account's things, as far as a folder can describe them. */
export interface Account {
  id: string | undefined;
  variables: EnvironmentVariable[];
  stores: DataStore[];
  sources: Source[];
  workflows: Workflow[];
  webhooks: Webhook[];
  subscriptions: Subscription[];
  connected: ConnectedAccount[];
  /** With its code; read once. */
  component(id: string): Promise<Component>;
  /** With the fields that lists omit, and its state. */
  workflow(id: string): Promise<Workflow & { etag?: string }>;
  webhook(id: string): Promise<Webhook & Fields & { etag?: string }>;
  source(id: string): Promise<Source & { etag?: string }>;
}

export async function readAccount(api: ApiClient): Promise<Account> {
  const [me, variables, stores, sources, workflows, webhooks, subscriptions, connected] = await Promise.all([
    api.get<User>('/users/me'),
    api.all<EnvironmentVariable>('/environment_variables'),
    api.all<DataStore>('/data_stores'),
    api.all<Source>('/users/me/sources'),
    api.all<Workflow>('/users/me/workflows'),
    api.all<Webhook>('/users/me/webhooks'),
    api.all<Subscription>('/users/me/subscriptions'),
    api.all<ConnectedAccount>('/connected_accounts'),
  ]);
  return {
    id: me.orgs[0]?.id,
    variables,
    stores,
    sources,
    workflows,
    webhooks,
    subscriptions,
    connected,
    component: once((id) => api.get<Component>(`/components/${id}`)),
    workflow: once((id) => api.tagged<Workflow>(`/workflows/${id}`)),
    webhook: once((id) => api.tagged<Webhook & Fields>(`/webhooks/${id}`)),
    source: once((id) => api.tagged<Source>(`/sources/${id}`)),
  };
}

function once<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (id) => {
    const found = known.get(id) ?? read(id);
    known.set(id, found);
    return found;
  };
}
