import { queryOptions } from '@tanstack/react-query';
import { BASE_PATH } from '../../api/base-url.ts';
import { api, type Schemas } from '../../api/client.ts';

export type AccountStats = Schemas['AccountStats']['accounts'][number];
export type NodeRecord = Schemas['Node'];

const REFRESH_MS = 5_000;
const SHOWN = 20;

export const nodesQuery = () =>
  queryOptions({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => api.get('/v1/nodes', { signal }).then(({ data }) => data),
    refetchInterval: REFRESH_MS,
  });

/** The last hour, the most active first. */
export const accountStatsQuery = () =>
  queryOptions({
    queryKey: ['account-stats'],
    queryFn: ({ signal }) =>
      api.get('/v1/stats/accounts', { query: { limit: SHOWN }, signal }).then(({ data }) => data.accounts),
    refetchInterval: REFRESH_MS,
  });

export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: ['account', id],
    queryFn: ({ signal }) => api.get('/v1/tenants/{id}', { path: { id }, signal }).then(({ data }) => data),
  });

export const readLimits = (id: string) => api.tagged('get', '/v1/accounts/{id}/limits', { path: { id } });

export const limitsQuery = (id: string) =>
  queryOptions({
    queryKey: ['account-limits', id],
    queryFn: () => readLimits(id),
  });

/** Metrics of the answering node, without labels; null if it serves them at another port. */
export const metricsQuery = () =>
  queryOptions({
    queryKey: ['metrics'],
    queryFn: async ({ signal }) => {
      const response = await fetch(`${BASE_PATH}metrics`, { signal });
      return response.ok ? figuresOf(await response.text()) : null;
    },
    refetchInterval: REFRESH_MS,
  });

function figuresOf(text: string): ReadonlyMap<string, number> {
  const lines = [...text.matchAll(/^(headwater_\w+) (\S+)$/gm)];
  return new Map(lines.map(([, name = '', value]) => [name, Number(value)]));
}
