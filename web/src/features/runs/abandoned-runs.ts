import { api, type Schemas } from '../../api/client.ts';
import { pagesOf, refreshEvery } from '../../api/pages.ts';

export type AbandonedRun = Schemas['AbandonedRun'];

/** Which abandoned runs are meant: those of a source, those of a time. */
export interface AbandonedChoice {
  source_id?: string;
  since_ms?: number;
  until_ms?: number;
}

const REFRESH_MS = 5_000;

export const abandonedQuery = (choice: AbandonedChoice) => ({
  ...pagesOf(['abandoned-runs', choice], (query, signal) =>
    api.get('/v1/runs', { query: { ...query, ...choice }, signal }),
  ),
  refetchInterval: refreshEvery(REFRESH_MS),
});

/** How many there are. */
export const abandonedCountQuery = (choice: AbandonedChoice) => ({
  queryKey: ['abandoned-runs', choice, 'count'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    api.get('/v1/runs', { query: { ...choice, limit: 1 }, signal }).then(({ page_info: page }) => page.total_count),
  refetchInterval: REFRESH_MS,
});
