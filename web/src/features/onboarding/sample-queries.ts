import { queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client.ts';

export type SampleRequest = Schemas['SampleRequest'];

const REFRESH_MS = 1_000;
const SHOWN = 50;

export const sampleReceiverQuery = () =>
  queryOptions({
    queryKey: ['sample-receiver'],
    queryFn: ({ signal }) => api.get('/v1/sample_receiver', { signal }).then(({ data }) => data),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Newest first. */
export const sampleRequestsQuery = () =>
  queryOptions({
    queryKey: ['sample-requests'],
    queryFn: ({ signal }) =>
      api.get('/v1/sample_receiver/requests', { query: { limit: SHOWN }, signal }).then(({ data }) => data),
    refetchInterval: REFRESH_MS,
  });
