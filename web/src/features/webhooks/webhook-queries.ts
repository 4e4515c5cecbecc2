import { queryOptions } from '@tanstack/react-query';
import { api, type Schemas, type Tagged } from '../../api/client.ts';
import { pagesOf, refreshEvery, searchedPages } from '../../api/pages.ts';

const REFRESH_MS = 3_000;

export type Webhook = Tagged<Schemas['WebhookSummary']>;
/** As it is answered alone: with its secret and headers. */
export type WholeWebhook = Tagged<Schemas['Webhook']>;
export type Subscription = Schemas['Subscription'];
export type Delivery = Schemas['Delivery'];
export type Attempt = Delivery['attempts'][number];

/** `text`: only those that have it in their name, URL or id. Default: all. */
export const webhooksQuery = (text = '') =>
  searchedPages('webhooks', { q: text }, (query, signal) => api.get('/v1/users/me/webhooks', { query, signal }));

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => api.tagged('get', '/v1/webhooks/{id}', { path: { id }, signal }),
    // Until the held deliveries are sent.
    refetchInterval: ({ state }) => ((state.data?.draining_since ?? null) === null ? false : REFRESH_MS),
  });

export interface DeliveryFilter {
  /** Several are separated by commas, here and below. */
  status?: string;
  error_class?: string;
  text?: string;
  since?: string;
  until?: string;
}

export const deliveriesQuery = (id: string, filter: DeliveryFilter = {}) => ({
  ...pagesOf(['deliveries', id, filter], (query, signal) =>
    api.get('/v1/webhooks/{id}/deliveries', { path: { id }, query: { ...query, ...filter }, signal }),
  ),
  refetchInterval: refreshEvery(REFRESH_MS),
});

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => api.get('/v1/deliveries/{id}', { path: { id }, signal }).then(({ data }) => data),
    refetchInterval: REFRESH_MS,
  });

/** How many deliveries of this status there are, as far as the server counts them. */
export const waitingDeliveriesQuery = (id: string, status: string) =>
  queryOptions({
    queryKey: ['waiting', id, status],
    queryFn: ({ signal }) =>
      api
        .get('/v1/webhooks/{id}/deliveries', { path: { id }, query: { status, limit: 1 }, signal })
        .then(({ page_info }) => page_info.total_count),
    refetchInterval: REFRESH_MS,
  });

export const webhookStatsQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook-stats', id],
    queryFn: ({ signal }) => api.get('/v1/webhooks/{id}/stats', { path: { id }, signal }).then(({ data }) => data),
    refetchInterval: 5 * REFRESH_MS,
  });

export const attemptQuery = (id: string) =>
  queryOptions({
    queryKey: ['attempt', id],
    queryFn: ({ signal }) => api.get('/v1/attempts/{id}', { path: { id }, signal }).then(({ data }) => data),
  });

/** All of the account: the API has no filter by listener. */
export const subscriptionsQuery = () =>
  pagesOf(['subscriptions'], (query, signal) =>
    api.get('/v1/users/me/subscriptions', { query: { ...query, limit: 100 }, signal }),
  );
