import { queryOptions, useQueries } from '@tanstack/react-query';
import { api } from './client.ts';

/** Names of a kind that are read at most. A resource beyond them is shown by its id. */
const MAX_NAMES = 2_000;
const STALE_MS = 30_000;

export type NamedKind = 'sources' | 'workflows' | 'webhooks' | 'emitters' | 'members';

interface NamedPage {
  data: { id: string; name: string | null; url?: string }[];
  page_info: { end_cursor: string | null; total_count: number };
}

interface NamesQuery {
  limit: number;
  after?: string;
}

const include = { include: 'id,name' };

/** The key of a portal may read the names of `emitters`, but no sources or workflows. */
const PAGES: Record<NamedKind, (query: NamesQuery, signal: AbortSignal) => Promise<NamedPage>> = {
  sources: (query, signal) => api.get('/v1/users/me/sources', { query: { ...query, ...include }, signal }),
  workflows: (query, signal) => api.get('/v1/users/me/workflows', { query: { ...query, ...include }, signal }),
  webhooks: (query, signal) =>
    api.get('/v1/users/me/webhooks', { query: { ...query, include: 'id,name,url' }, signal }),
  emitters: (query, signal) => api.get('/v1/subscriptions/emitters', { query, signal }),
  members: async (query, signal) => {
    const page = await api.get('/v1/members', { query, signal });
    return { ...page, data: page.data.map(({ id, name, email }) => ({ id, name: name || email })) };
  },
};

/** All names of a kind, page after page. A page may be short although another follows. */
export const namesQuery = (kind: NamedKind) =>
  queryOptions({
    queryKey: [kind, 'names'],
    queryFn: async ({ signal }) => {
      const names: [id: string, name: string][] = [];
      for (let after: string | null | undefined; after !== null && names.length < MAX_NAMES; ) {
        const { data, page_info: page } = await PAGES[kind]({ limit: 100, ...(after && { after }) }, signal);
        names.push(...data.map(({ id, name, url }): [string, string] => [id, name ?? url ?? id]));
        after = data.length === 0 || names.length >= page.total_count ? null : page.end_cursor;
      }
      return names;
    },
    staleTime: STALE_MS,
  });

/** A function outside of the hook: so the map stays the same one until a name changes. */
function byId(results: readonly { data: [id: string, name: string][] | undefined }[]): Map<string, string> {
  return new Map(results.flatMap(({ data }) => data ?? []));
}

/** Names by id. A webhook without a name has its URL instead, a member the e-mail address. */
export function useNames(...kinds: NamedKind[]): Map<string, string> {
  return useQueries({ queries: kinds.map((kind) => namesQuery(kind)), combine: byId });
}
