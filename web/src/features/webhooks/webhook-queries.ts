import { queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';

export type Webhook = Schemas['WebhookSummary'];
export type Subscription = Schemas['Subscription'];
export type Delivery = Schemas['Delivery'];
export type Attempt = Delivery['attempts'][number];

export const webhooksQuery = () =>
  pagesOf(['webhooks'], (query, signal) => ask(api.GET('/v1/users/me/webhooks', { params: { query }, signal })));

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })).then(({ data }) => data),
  });

const REFRESH_MS = 3_000;

export const deliveriesQuery = (id: string) => ({
  ...pagesOf(['deliveries', id], (query, signal) =>
    ask(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query }, signal })),
  ),
  refetchInterval: REFRESH_MS,
});

/** All of the account: the API has no filter by listener. */
export const subscriptionsQuery = () =>
  pagesOf(['subscriptions'], (query, signal) =>
    ask(api.GET('/v1/users/me/subscriptions', { params: { query: { ...query, limit: 100 } }, signal })),
  );
