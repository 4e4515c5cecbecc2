import { type AccountLimits, type ActiveTenants, HeadwaterError, type FieldError, notFound } from '@headwater/shared';
import type { CallerTrace, NewEvent, Principal, Publication, Publisher, RateLimitState } from '../contract/index.ts';
import { messageId } from '../outbox/index.ts';
import type { PublishedEvent, RunCommit, RunCommitter, SourceRuntime } from '../runs/index.ts';
import { emitIdOf, formatEventId, newInvocationId, type StatCount } from '../events/index.ts';
import type { RequestRate } from '../fairness/index.ts';
import type { TraceContexts } from '../tracing/index.ts';
import type { EventsSource } from './events-source.ts';

export interface PublisherOptions {
  committer: Pick<RunCommitter, 'commit' | 'isBehind'>;
  findSource: (id: string) => Promise<SourceRuntime | undefined>;
  eventsSource: EventsSource;
  limits: { get(accountId: string): AccountLimits | Promise<AccountLimits> };
  rate: RequestRate;
  traces: Pick<TraceContexts, 'keep'>;
  stats: StatCount;
  /** An account that publishes is active, even if nothing is delivered or run for it. */
  activeTenants: Pick<ActiveTenants, 'saw'>;
  nowMs: () => number;
}

const BEHIND_RETRY_SECONDS = 1;
const FULL_RETRY_SECONDS = 10;

/** Takes events from the API to the commit that those of runs go through. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { committer, eventsSource, limits, stats } = options;

  async function commit(who: Principal, sourceId: string, events: readonly NewEvent[], caller?: CallerTrace) {
    const traceId = newInvocationId(sourceId);
    await options.traces.keep(who.accountId, traceId, caller);
    const committed = await committer.commit(runOf(who, sourceId, traceId, events, options.nowMs()));
    if (committed.refused !== undefined) throw noRoom(committed.refused);
    const { published } = committed;
    if (!committed.committed || published === undefined) return undefined;
    stats.add(who.accountId, [sourceId], 'received', 1);
    return { sourceId, traceId, events: published.map((event) => storedEvent(sourceId, event)) };
  }

  async function publishTo(
    who: Principal,
    id: string,
    { events, caller, perSecond }: { events: readonly NewEvent[]; caller?: CallerTrace; perSecond: number },
  ): Promise<Publication> {
    const source = id.includes('\0') ? undefined : await options.findSource(id);
    if (source === undefined || source.deleted || source.accountId !== who.accountId) throw notFound('source', id);
    if (!source.active) {
      throw new HeadwaterError('CONFLICT', `Source ${id} is not active; set active to true to publish to it`);
    }
    const rateLimit = takeRate(options.rate, `${id} events`, perSecond);
    const published = await commit(who, id, events, caller);
    if (published === undefined) throw notFound('source', id);
    return rateLimit === undefined ? published : { ...published, rateLimit };
  }

  return {
    async publish(who, events, sourceId, caller) {
      const { accountId } = who;
      const accountLimits = await limits.get(accountId);
      checkSizes(events, accountLimits);
      if (committer.isBehind(accountId)) throw behind();
      options.activeTenants.saw(accountId, performance.now());
      const { maxRequestsPerSecond: perSecond } = accountLimits;
      const request = { events, perSecond, ...(caller === undefined ? {} : { caller }) };
      if (sourceId !== undefined) return publishTo(who, sourceId, request);
      const id = await eventsSource.of(who);
      try {
        return await publishTo(who, id, request);
      } catch (error) {
        if (!(error instanceof HeadwaterError) || error.code !== 'NOT_FOUND') throw error;
        // It was deleted since: another one is made.
        return publishTo(who, await eventsSource.replace(who, id), request);
      }
    },
  };
}

function runOf(
  { accountId }: Principal,
  sourceId: string,
  publishedAs: string,
  events: readonly NewEvent[],
  nowMs: number,
): RunCommit {
  const emits = events.map((event) => ({ ...event, emittedAtMs: nowMs }));
  return { accountId, sourceId, publishedAs, final: true, dedupe: 'unique', emits, dbWrites: new Map() };
}

function storedEvent(sourceId: string, { id, position, isDuplicate }: PublishedEvent): Publication['events'][number] {
  return {
    id: formatEventId(position),
    emitId: emitIdOf(sourceId, position),
    messageId: messageId(sourceId, position.ms, position.seq),
    ...(id === undefined ? {} : { givenId: id }),
    isDuplicate,
  };
}

function checkSizes(events: readonly NewEvent[], { maxEventBytes }: AccountLimits): void {
  const fields = events.flatMap(({ data }, index): FieldError[] => {
    const bytes = Buffer.byteLength(data);
    if (bytes <= maxEventBytes) return [];
    const limit = { name: 'maxEventBytes' as const, value: maxEventBytes, used: bytes };
    return [{ path: `events.${index}.data`, message: `has more than ${maxEventBytes} bytes as JSON`, limit }];
  });
  const [first] = fields;
  if (first === undefined) return;
  throw new HeadwaterError('PAYLOAD_TOO_LARGE', `${first.path} ${first.message}`, { fields });
}

/** 0: there is no limit. */
function takeRate(rate: RequestRate, name: string, perSecond: number): RateLimitState | undefined {
  if (perSecond === 0) return undefined;
  const taken = rate.take(name, perSecond);
  const { waitSeconds } = taken;
  if (waitSeconds === 0) return taken;
  throw new HeadwaterError('RATE_LIMITED', `A source takes ${perSecond} requests a second; try again later`, {
    retryAfterSeconds: Math.ceil(waitSeconds),
    limit: { name: 'maxRequestsPerSecond', value: perSecond, used: perSecond + 1 },
  });
}

function behind(): HeadwaterError {
  const message = 'Too many events of this account wait to be stored. None of this request was stored; send it again';
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: BEHIND_RETRY_SECONDS });
}

function noRoom(limit: NonNullable<HeadwaterError['limit']>): HeadwaterError {
  const message = `As much waits to be delivered or run as the limit ${limit.name} of the account allows (${limit.value}); nothing of this request was stored, send it again later`;
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: FULL_RETRY_SECONDS, limit });
}
