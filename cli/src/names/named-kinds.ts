import { ID_PREFIXES } from '@headwater/shared';
import type { ApiClient } from '../api/client.ts';
import type { Source, Webhook, Workflow } from '../api/resources.ts';

export type Kind = 'source' | 'workflow' | 'webhook';

/** Something that can be named by its id, its slug or its name. */
export interface Named {
  kind: Kind;
  id: string;
  name: string;
  slug: string;
}

export interface NamedKind {
  prefix: string;
  plural: string;
  /** Path in the REST API. */
  path: string;
  list(api: ApiClient): Promise<Named[]>;
}

export const KINDS: Readonly<Record<Kind, NamedKind>> = {
  source: {
    prefix: ID_PREFIXES.source,
    plural: 'sources',
    path: '/sources',
    list: async (api) =>
      (await api.all<Source>('/users/me/sources')).map(({ id, name, name_slug: slug }) => ({
        kind: 'source',
        id,
        name,
        slug,
      })),
  },
  workflow: {
    prefix: ID_PREFIXES.workflow,
    plural: 'workflows',
    path: '/workflows',
    list: async (api) =>
      (await api.all<Workflow>('/users/me/workflows')).map(({ id, name, name_slug: slug }) => ({
        kind: 'workflow',
        id,
        name,
        slug: slug ?? slugOfName(name),
      })),
  },
  webhook: {
    prefix: ID_PREFIXES.webhook,
    plural: 'webhooks',
    path: '/webhooks',
    list: async (api) =>
      (await api.all<Webhook>('/users/me/webhooks')).map(({ id, name, url }) => ({
        kind: 'webhook',
        id,
        name: name ?? url,
        slug: name === null ? url : slugOfName(name),
      })),
  },
};

/** Makes a slug by the server's rules, for resources that get none from the server. */
export function slugOfName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}

export function isIdOf(kind: Kind, text: string): boolean {
  return new RegExp(`^${KINDS[kind].prefix}[0-9A-Za-z]{20}$`).test(text);
}
