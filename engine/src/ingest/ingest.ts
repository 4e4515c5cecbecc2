import { HeadwaterError } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { CallerTrace, EndpointRoute, Ingest, RunResponse } from '../contract/index.ts';
import { createEndpointRoutes } from './endpoint-routes.ts';
import { createRequestRate } from '../fairness/index.ts';
import { type AccountBacklogs, type Intake, LOST, NODE_STOPS, noRoomToAnswer, runIsLost } from '../runs/index.ts';
import { newInvocationId } from '../events/index.ts';
import type { Sql } from '../db/index.ts';
import type { TraceContexts } from '../tracing/index.ts';
import type { InTurnIntake } from '../workflows/index.ts';
import { readEndpoints } from './ingest.sql.ts';

export interface IngestOptions {
  sql: Sql;
  limits: Pick<LimitsCache, 'known' | 'get' | 'isSuspended'>;
  /** Intake of workflows whose settings control when executions start. */
  inTurn: Pick<InTurnIntake, 'accept' | 'endWaits'>;
  backlogs: Pick<AccountBacklogs, 'admit' | 'queue'>;
  intake: Intake;
  traces: Pick<TraceContexts, 'keep'>;
}

export interface IngestCache {
  forgetSource(sourceId: string): void;
  forgetAll(): void;
}

export function createIngest(options: IngestOptions): Ingest & IngestCache {
  const { sql, limits, backlogs, intake } = options;
  const routes = createEndpointRoutes({ read: (keys) => readEndpoints(sql, keys), nowMs: Date.now });
  const rate = createRequestRate(() => performance.now());

  const answers = createAwaitedAnswers();
  const runUnstored = createUnstoredRuns(intake, answers);

  /** Whether a request goes to the database for any node, not on at once on this one. */
  function waits({ accountId, inTurn }: EndpointRoute): boolean {
    return inTurn !== undefined || intake.isFull(accountId);
  }

  async function accept(route: EndpointRoute, event: string, caller?: CallerTrace): ReturnType<Ingest['accept']> {
    const { accountId, sourceId, propName } = route;
    const id = newInvocationId(sourceId);
    // Before the invocation: any node may run that at once.
    await options.traces.keep(accountId, id, caller);
    // Right before it is taken: one that another node runs could not answer its client.
    if (route.inTurn === undefined && route.customResponse && intake.isFull(accountId, true)) throw noRoomToAnswer();
    if (route.inTurn !== undefined) {
      const queued = await backlogs.queue(accountId, event.length, () => options.inTurn.accept(route, event, id));
      return queued.response === undefined
        ? queued
        : { ...queued, response: answers.untilEnded(queued.response, NODE_STOPS) };
    }
    const invocation = { id, accountId, sourceId, kind: 'http' as const, propName, event };
    // Without room here, any node may run it, which needs a row.
    if (route.durability === 'none' && !intake.isFull(accountId, true))
      return runUnstored(route.customResponse, invocation);
    if (!route.customResponse) {
      await intake.add(invocation);
      return { invocationId: id };
    }
    const response = Promise.withResolvers<RunResponse>();
    await intake.add(invocation, response.resolve);
    return { invocationId: id, response: answers.untilEnded(response.promise, NODE_STOPS) };
  }

  return {
    async route(endpointKey) {
      const route = await routes.get(endpointKey);
      if (route !== undefined && limits.known(route.accountId) === undefined) await limits.get(route.accountId);
      return route;
    },
    admit(route) {
      if (limits.isSuspended(route.accountId)) throw endpointSuspended();
      if (waits(route)) backlogs.admit(route.accountId);
      const perSecond = limits.known(route.accountId)?.maxRequestsPerSecond ?? 0;
      if (perSecond === 0) return undefined;
      const taken = rate.take(`${route.sourceId} ${route.propName}`, perSecond);
      if (taken.waitSeconds > 0) throw tooManyRequests(perSecond, taken.waitSeconds);
      return taken;
    },
    accept,
    endWaits: options.inTurn.endWaits,
    endAnswers: answers.end,
    forgetSource: routes.forgetSource,
    forgetAll: routes.forgetAll,
  };
}

/** Runs of requests that are not stored. */
function createUnstoredRuns(intake: Pick<Intake, 'runUnstored'>, answers: AwaitedAnswers) {
  return async (
    customResponse: boolean,
    invocation: Parameters<Intake['runUnstored']>[0],
  ): ReturnType<Ingest['accept']> => {
    const response = Promise.withResolvers<RunResponse>();
    intake.runUnstored(invocation, response.resolve);
    const answer = answers.untilEnded(response.promise, LOST);
    if (customResponse) return { invocationId: invocation.id, response: answer };
    const outcome = await answer;
    // However it ended, what it left is stored.
    if (!outcome.ok && outcome.request === 'lost') throw runIsLost(outcome.message);
    return { invocationId: invocation.id };
  };
}

type AwaitedAnswers = ReturnType<typeof createAwaitedAnswers>;

/** Answers that clients wait for while the run is under way. */
function createAwaitedAnswers() {
  const awaited = new Set<() => void>();
  return {
    /** `atStop`: the answer if the node stops before the run has answered. */
    untilEnded(response: Promise<RunResponse>, atStop: RunResponse): Promise<RunResponse> {
      const { promise, resolve } = Promise.withResolvers<RunResponse>();
      const end = () => resolve(atStop);
      awaited.add(end);
      void response.then((outcome) => {
        awaited.delete(end);
        resolve(outcome);
      });
      return promise;
    },
    end() {
      for (const end of awaited) end();
      awaited.clear();
    },
  };
}

/** Long enough: an operator does not resume an account within seconds. */
const SUSPENDED_RETRY_SECONDS = 300;

function endpointSuspended(): HeadwaterError {
  return new HeadwaterError('ENDPOINT_SUSPENDED', 'The account of this endpoint is suspended; send this again later', {
    retryAfterSeconds: SUSPENDED_RETRY_SECONDS,
  });
}

function tooManyRequests(perSecond: number, waitSeconds: number): HeadwaterError {
  return new HeadwaterError('RATE_LIMITED', `This endpoint takes ${perSecond} requests a second; try again later`, {
    retryAfterSeconds: Math.ceil(waitSeconds),
    limit: { name: 'maxRequestsPerSecond', value: perSecond, used: perSecond + 1 },
  });
}
