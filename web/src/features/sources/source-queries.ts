import { queryOptions } from '@tanstack/react-query';
import { api, type Schemas, type Tagged } from '../../api/client.ts';
import { pagesOf, refreshEvery, searchedPages } from '../../api/pages.ts';

export type Source = Tagged<Schemas['Source']>;

/** Only those that have the text `q` in their name or id, and this owner. Default: all. */
export const sourcesQuery = (filter: { q?: string; owner?: string } = {}) =>
  searchedPages('sources', filter, (query, signal) => api.get('/v1/users/me/sources', { query, signal }));

export const sourceQuery = (id: string) =>
  queryOptions({
    queryKey: ['source', id],
    queryFn: ({ signal }) => api.tagged('get', '/v1/sources/{id}', { path: { id }, signal }),
  });

const REFRESH_MS = 3_000;

/** With those that no event leads to. */
export const runsQuery = (id: string) => ({
  ...pagesOf(['runs', id], (query, signal) =>
    api.get('/v1/sources/{id}/runs', {
      path: { id },
      query: { ...query, include_quiet: true },
      signal,
    }),
  ),
  refetchInterval: refreshEvery(REFRESH_MS),
});

export const componentQuery = (id: string) =>
  queryOptions({
    queryKey: ['component', id],
    queryFn: ({ signal }) => api.get('/v1/components/{id}', { path: { id }, signal }).then(({ data }) => data),
    staleTime: 60_000,
  });

/** The first line of the code that a source without code of its own runs. */
const INGEST_BEGINS = '// Events come from POST /v1/sources/{id}/events';

/** Its events are published, and no run makes them. */
export function isIngest({ code }: Pick<Schemas['Component'], 'code'>): boolean {
  return code.startsWith(INGEST_BEGINS);
}

/** The endpoint of a source's HTTP prop; undefined if it has none. */
export function endpointOf({ configured_props: props }: Source): string | undefined {
  for (const value of Object.values(props)) {
    if (
      typeof value === 'object' &&
      value !== null &&
      'endpoint_url' in value &&
      typeof value.endpoint_url === 'string'
    ) {
      return value.endpoint_url;
    }
  }
  return undefined;
}
