import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';

const PAGE_SIZE = 50;

interface ApiPage<T> {
  data: T[];
  page_info: { end_cursor: string | null; scanned_until?: number };
}

export interface PageQuery {
  limit: number;
  after?: string;
}

/** A list that is longer is not asked for anew by itself: each time, that is a request a page. */
const MAX_REFRESHED_PAGES = 4;

interface PagedQuery {
  state: { data?: { pages: unknown[] } | undefined };
}

const isRefreshed = ({ state: { data } }: PagedQuery) => (data?.pages.length ?? 0) <= MAX_REFRESHED_PAGES;

/** The `refetchInterval` of a list. */
export function refreshEvery(refreshMs: number) {
  return (query: PagedQuery) => isRefreshed(query) && refreshMs;
}

/**
 * A list of the API, page after page. A page may be short although another follows; an empty one is
 * the last.
 */
export function pagesOf<T>(
  queryKey: readonly unknown[],
  fetchPage: (query: PageQuery, signal: AbortSignal) => Promise<ApiPage<T>>,
) {
  return infiniteQueryOptions({
    queryKey,
    refetchOnMount: isRefreshed,
    refetchOnWindowFocus: isRefreshed,
    refetchOnReconnect: isRefreshed,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      fetchPage({ limit: PAGE_SIZE, ...(pageParam === undefined ? {} : { after: pageParam }) }, signal),
    getNextPageParam: ({ data, page_info: { end_cursor: end, scanned_until: until } }) =>
      end !== null && (data.length >= PAGE_SIZE || until !== undefined) ? end : undefined,
  });
}

/** `q`: a text in the name. `owner`: the id of a user. The empty text finds all. */
interface SearchedFor {
  q?: string;
  owner?: string;
}

/** A list that the server searches. */
export function searchedPages<T>(
  key: string,
  { q = '', owner = '' }: SearchedFor,
  fetchPage: (query: PageQuery & SearchedFor, signal: AbortSignal) => Promise<ApiPage<T>>,
) {
  const filter = { ...(q === '' ? {} : { q }), ...(owner === '' ? {} : { owner }) };
  const queryKey = q === '' && owner === '' ? [key] : [key, 'searched', filter];
  return {
    ...pagesOf(queryKey, (query, signal) => fetchPage({ ...query, ...filter }, signal)),
    placeholderData: keepPreviousData,
  };
}
