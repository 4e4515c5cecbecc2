import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';

export type Webhook = Schemas['WebhookSummary'];
export type Delivery = Schemas['Delivery'];
export type Attempt = Delivery['attempts'][number];

const PAGE_SIZE = 50;

export const webhooksQuery = () =>
  infiniteQueryOptions({
    queryKey: ['webhooks'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, ...(pageParam === undefined ? {} : { after: pageParam }) };
      return ask(api.GET('/v1/users/me/webhooks', { params: { query }, signal }));
    },
    getNextPageParam: ({ data, page_info }) =>
      data.length < PAGE_SIZE ? undefined : (page_info.end_cursor ?? undefined),
  });

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })).then(({ data }) => data),
  });

const REFRESH_MS = 3_000;

export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, ...(pageParam === undefined ? {} : { after: pageParam }) };
      return ask(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query }, signal }));
    },
    getNextPageParam: ({ data, page_info }) =>
      data.length < PAGE_SIZE ? undefined : (page_info.end_cursor ?? undefined),
    refetchInterval: REFRESH_MS,
  });
