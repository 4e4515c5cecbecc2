import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

export interface EventFilter {
  emitter_id?: string;
  event_name?: string;
  id?: string;
  text?: string;
  /** JSON of a filter on the data. */
  filter?: string;
  since?: string;
  until?: string;
}

const PAGE_SIZE = 100;

/**
 * Newest first. A page may be short or empty and still have a successor: the server searches a
 * limited number of events per request.
 */
export const searchQuery = (filter: EventFilter) =>
  infiniteQueryOptions({
    queryKey: ['events', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after, signal }) => {
      const query = { ...filter, limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) };
      return api.get('/v1/events', { query, signal });
    },
    getNextPageParam: ({ data, page_info: { end_cursor: end, scanned_until: until } }) =>
      end !== null && (data.length === PAGE_SIZE || until !== undefined) ? end : undefined,
  });

/** One event, whole. */
export const eventQuery = (emitId: string) =>
  queryOptions({
    queryKey: ['event', emitId],
    queryFn: async ({ signal }) => {
      const query = { id: emitId, expand: 'event', limit: 1 };
      const { data } = await api.get('/v1/events', { query, signal });
      const [found] = data;
      if (found === undefined) throw new Error('This event is not kept any more');
      return found;
    },
    staleTime: Infinity,
  });

/** An event that a link names and the list does not show: it is older, or of another filter. */
export function useLinkedEvent(emitId: string | undefined) {
  // An event that is gone does not come back by asking again.
  return useQuery({ ...eventQuery(emitId ?? ''), enabled: emitId !== undefined, retry: false });
}
