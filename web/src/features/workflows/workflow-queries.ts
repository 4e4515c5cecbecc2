import { queryOptions } from '@tanstack/react-query';
import { api, type Schemas, type Tagged } from '../../api/client.ts';
import { pagesOf, refreshEvery, searchedPages } from '../../api/pages.ts';

export type Workflow = Tagged<Schemas['Workflow']>;
export type WorkflowSummary = Schemas['WorkflowSummary'];
export type Execution = Schemas['Execution'];
export type ExecutionStep = Execution['steps'][string];
export type Deployment = Schemas['Deployment'];

/** `text`: only those that have it in their name or id. Default: all. */
export const workflowsQuery = (text = '') =>
  searchedPages('workflows', { q: text }, (query, signal) => api.get('/v1/users/me/workflows', { query, signal }));

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ['workflow', id],
    queryFn: ({ signal }) => api.tagged('get', '/v1/workflows/{id}', { path: { id }, signal }),
  });

const REFRESH_MS = 3_000;

/** The statuses that the counter of runs that ended well counts. */
export const ENDED_WELL = 'succeeded,exited';

interface ExecutionFilter {
  /** One, or several with commas between them. */
  status?: string;
  since_ms?: number;
  until_ms?: number;
}

export const executionsQuery = (id: string, filter: ExecutionFilter) => ({
  ...pagesOf(['executions', id, filter], (query, signal) =>
    api.get('/v1/workflows/{id}/executions', {
      path: { id },
      query: { ...query, ...filter },
      signal,
    }),
  ),
  refetchInterval: refreshEvery(REFRESH_MS),
});

export const executionCountQuery = (id: string, status: Execution['status']) =>
  queryOptions({
    queryKey: ['executions', id, status, 'count'],
    queryFn: ({ signal }) =>
      api
        .get('/v1/workflows/{id}/executions', { path: { id }, query: { status, limit: 1 }, signal })
        .then(({ page_info: page }) => page.total_count),
    refetchInterval: REFRESH_MS,
  });

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ['execution', id],
    queryFn: ({ signal }) => api.get('/v1/executions/{id}', { path: { id }, signal }).then(({ data }) => data),
    // It goes on while it is looked at.
    refetchInterval: ({ state: { data } }) => (data === undefined || isOver(data) ? false : 1_000),
  });

export const deploymentsQuery = (id: string) =>
  pagesOf(['deployments', id], (query, signal) =>
    api.get('/v1/workflows/{id}/deployments', { path: { id }, query, signal }),
  );

export function isOver({ status }: Pick<Execution, 'status'>): boolean {
  return status !== 'queued' && status !== 'running' && status !== 'waiting';
}
