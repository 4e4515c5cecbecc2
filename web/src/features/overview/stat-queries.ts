import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client.ts';

export type Series = Schemas['StatSeries'];
export type Subject = Schemas['SubjectStats']['subjects'][number];
export type Counter = Exclude<keyof Series['buckets'][number], 'at'>;

const HOUR_MS = 3_600_000;

/** `time`: the same range in the URLs of other pages. */
export const RANGES = {
  hour: { label: 'Hour', words: 'the last hour', ms: HOUR_MS, step: 60, time: '1h' },
  day: { label: 'Day', words: 'the last day', ms: 24 * HOUR_MS, step: 900, time: '24h' },
  week: { label: 'Week', words: 'the last week', ms: 7 * 24 * HOUR_MS, step: 3_600, time: '7d' },
} as const;

export type Range = keyof typeof RANGES;

export function rangeOf(text: string | undefined): Range {
  return text === 'day' || text === 'week' ? text : 'hour';
}

/** As often as nodes store what they have counted. */
const REFRESH_MS = 5_000;

/** The range that ends now, in whole buckets: the last one is under way. */
function spanOf(range: Range): { since: number; until: number; step: number } {
  const { ms, step } = RANGES[range];
  const until = Date.now();
  return { since: until - ms + step * 1_000, until, step };
}

/** For a small picture of each of many: hours are fine enough for a day. */
function rowSpanOf(range: Range): { since: number; until: number; step: number } {
  const span = spanOf(range);
  return range === 'day' ? { ...span, step: 3_600 } : span;
}

/** Series of the account, or of one source, workflow or webhook. */
export const seriesQuery = (range: Range, subject: { emitter_id?: string; webhook_id?: string } = {}) =>
  queryOptions<Series>({
    queryKey: ['stats', range, subject],
    queryFn: ({ signal }) =>
      api.get('/v1/stats', { query: { ...spanOf(range), ...subject }, signal }).then(({ data }) => data),
    refetchInterval: REFRESH_MS,
    placeholderData: (last) => last,
  });

/** The most failures first. */
export const subjectsQuery = (kind: 'emitters' | 'webhooks', range: Range, limit: number) =>
  queryOptions<Subject[]>({
    queryKey: ['stats', kind, range, limit],
    queryFn: ({ signal }) =>
      api.get(`/v1/stats/${kind}`, { query: { ...rowSpanOf(range), limit }, signal }).then(({ data }) => data.subjects),
    refetchInterval: REFRESH_MS,
    placeholderData: (last) => last,
  });

const MAX_SPARKLINES = 100;

/** For lists: what each did in the last hour, by its id. Those that did nothing are not in it. */
export function useSparklines(kind: 'emitters' | 'webhooks'): ReadonlyMap<string, Subject> {
  const { data = [] } = useQuery(subjectsQuery(kind, 'hour', MAX_SPARKLINES));
  return new Map(data.map((subject) => [subject.id, subject]));
}

export const waitingQuery = () =>
  queryOptions({
    queryKey: ['stats', 'waiting'],
    queryFn: ({ signal }) => api.get('/v1/stats/waiting', { signal }).then(({ data }) => data),
    refetchInterval: REFRESH_MS,
  });
