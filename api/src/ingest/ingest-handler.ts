import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Engine, runIsLost, type Tracing } from '@headwater/engine';
import { createLimiter, HeadwaterError, ID_PREFIXES, inTurn, LIMITS, type Limiter } from '@headwater/shared';
import { type AccountTurns, announcedBytes } from '../account-turns.ts';
import { callerTraceOf } from '../caller-trace.ts';
import { createEntryPacers, ENDPOINT_PACE } from '../entry-pacer.ts';
import type { Log } from '../log.ts';
import { type HttpMetrics, knownMethod } from '../metrics.ts';
import { bodyTooLarge } from '../parameters/read-body.ts';
import { problemOf } from '../problem.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../request-id.ts';
import { createClientFacts, type ReadClientFacts } from './client-facts.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { isCoded } from './event-body.ts';
import { createUnfinishedBodies, type UnfinishedBodies } from '../unfinished-bodies.ts';
import { createUnreadAnswers, type UnreadAnswers } from '../unread-answers.ts';
import { httpEventJson } from './http-event.ts';
import { readRequestBody } from '../read-request-body.ts';
import { RUN_HEADER } from '../run-header.ts';
import {
  isPreflight,
  setRateLimit,
  writeAccepted,
  writeKept,
  writePreflightAnswer,
  writeProblem,
  writeRunResponse,
} from './write-answer.ts';

export interface IngestOptions {
  engine: Pick<Engine, 'ingest' | 'usage' | 'tracing'>;
  log: Log;
  metrics: HttpMetrics;
  turns: AccountTurns;
  /** Default: its own. */
  unread?: UnreadAnswers;
  unfinished?: UnfinishedBodies;
  /** Default: http, and no proxy is trusted. */
  clientFacts?: ReadClientFacts;
}

interface IngestContext extends Required<IngestOptions> {
  doors: ReturnType<typeof createEntryPacers>;
  /**
   * Checks of bodies over LIMITS.smallBodyBytes take the thread a while. Without turns, hundreds of
   * one account would make all others wait.
   */
  checks: Limiter;
}

export type IngestHandler = (request: IncomingMessage, response: ServerResponse, address: EndpointAddress) => void;

// Anything else cannot be a key, and is not worth a look into the database.
const KEY = /^[A-Za-z0-9_-]{1,128}$/;

type Route = NonNullable<Awaited<ReturnType<Engine['ingest']['route']>>>;

const CLIENT_GONE_STATUS = 499;

/**
 * The hot path: every request to a source's endpoint. It works on node's own request and response;
 * the web-standard objects of the REST API would cost a third of the throughput.
 */
export function createIngestHandler(given: IngestOptions): IngestHandler {
  const { unread = createUnreadAnswers(), unfinished = createUnfinishedBodies() } = given;
  const { clientFacts = createClientFacts({ scheme: 'http', trustedProxies: [] }) } = given;
  const checks = createLimiter(LIMITS.maxBodyChecksPerTenant);
  const options = { ...given, unread, unfinished, clientFacts, doors: createEntryPacers(ENDPOINT_PACE), checks };
  return (request, response, address) => {
    serve(options, request, response, address).catch((err: unknown) => {
      options.log.error({ err }, 'an endpoint could not answer');
      response.destroy();
    });
  };
}

async function serve(
  options: IngestContext,
  request: IncomingMessage,
  response: ServerResponse,
  address: EndpointAddress,
): Promise<void> {
  const startedAt = performance.now();
  let status: number;
  try {
    const answered = await takeRequest(options, request, response, address);
    status = answered.status;
    if (options.engine.tracing !== undefined) tellTracing(options.engine.tracing, request, answered, startedAt);
  } catch (thrown) {
    const problem = problemOf(thrown, requestIdOf(singleHeader(request, REQUEST_ID_HEADER)), options.log);
    writeProblem(request, response, problem);
    status = problem.status;
  }
  options.metrics.ingestDone(status, performance.now() - startedAt);
}

function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

interface Answered {
  status: number;
  /** The run or execution that it has become. Absent: none. */
  run?: { accountId: string; id: string };
}

/** `startedAt`: on the clock of `performance`. */
function tellTracing(
  tracing: Tracing,
  { method = 'GET' }: IncomingMessage,
  { status, run }: Answered,
  startedAt: number,
): void {
  if (run === undefined) return;
  const startedAtMs = Date.now() - (performance.now() - startedAt);
  tracing.requestAnswered({
    accountId: run.accountId,
    runId: run.id,
    method: knownMethod(method),
    route: '/e/{key}',
    status,
    startedAtMs,
  });
}

/** Answers; throws what the client is to be told instead. */
async function takeRequest(
  context: IngestContext,
  request: IncomingMessage,
  response: ServerResponse,
  address: EndpointAddress,
): Promise<Answered> {
  const { engine, turns, unread, doors } = context;
  const route = KEY.test(address.key) ? await engine.ingest.route(address.key) : undefined;
  if (route === undefined) throw new HeadwaterError('NOT_FOUND', 'There is no such endpoint, or its source is stopped');
  if (route.preflight === 'allow' && isPreflight(request)) {
    writePreflightAnswer(request, response);
    return { status: 204 };
  }
  const rateLimit = engine.ingest.admit(route);
  engine.usage.count(route.accountId, 'requests', 1);
  if (rateLimit !== undefined) setRateLimit(response, rateLimit);
  if (turns.mustGiveWay(route.accountId)) await doors(route.accountId);
  const json = await readEvent(context, route, { request, response, address });
  if (json === undefined) return { status: CLIENT_GONE_STATUS };
  const accepted = await engine.ingest.accept(
    route,
    json,
    callerTraceOf((name) => singleHeader(request, name)),
  );
  const run = { accountId: route.accountId, id: accepted.invocationId };
  if (accepted.response === undefined) {
    writeAccepted(request, response, accepted.invocationId);
    return { status: 200, run };
  }
  response.setHeader(RUN_HEADER, accepted.invocationId);
  const outcome = await accepted.response;
  if (!outcome.ok && outcome.request === 'kept') {
    writeKept(response, outcome.message);
    return { status: 202, run };
  }
  if (!outcome.ok)
    throw outcome.request === 'lost' ? runIsLost(outcome.message) : new HeadwaterError('NO_RESPONSE', outcome.message);
  const { status } = outcome.response;
  if (status < 200)
    throw new HeadwaterError('NO_RESPONSE', `The run responded with status ${status}, which ends nothing`);
  const { byteLength } = outcome.response.body;
  engine.usage.count(route.accountId, 'bytesOut', byteLength);
  unread.hold(route.accountId, response, byteLength);
  writeRunResponse(response, outcome.response, address);
  return { status, run };
}

/** The event as JSON; undefined where the client has gone. */
async function readEvent(
  { engine, turns, unfinished, checks, clientFacts }: IngestContext,
  { accountId, sourceId }: Route,
  { request, response, address }: { request: IncomingMessage; response: ServerResponse; address: EndpointAddress },
): Promise<string | undefined> {
  const announced = announcedBytes(request);
  if ((announced ?? 0) <= LIMITS.maxHttpBodyBytes) await turns.take(accountId, announced);
  const held = unfinished.begin(accountId, announced, () => request.destroy());
  try {
    const body = await readRequestBody(request, LIMITS.maxHttpBodyBytes, held?.add);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'too-large') throw bodyTooLarge(LIMITS.maxHttpBodyBytes, body.seenBytes);
    engine.usage.count(accountId, 'bytesIn', body.bytes.length);
    if (announced === undefined) turns.count(accountId, body.bytes.length);
    const { url, clientIp } = clientFacts(request);
    const client = sourceId.startsWith(ID_PREFIXES.workflow) ? { url, clientIp } : { url };
    const toJson = () => httpEventJson(request, address, body.bytes, client);
    // A few compressed bytes may become the largest body that there is.
    const isSmall = body.bytes.length <= LIMITS.smallBodyBytes && !isCoded(request.headers);
    if (isSmall) return await toJson();
    // A body that waits for its turn counts as unfinished, and can be cut off like one.
    return await whileOpen(response, (gone) => inTurn(checks, accountId, gone, toJson));
  } finally {
    held?.end();
  }
}

/** `gone` fires when the client, or whoever cuts it off, has closed the connection. */
async function whileOpen<T>(response: ServerResponse, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  if (response.destroyed) abort();
  response.once('close', abort);
  try {
    return await work(gone.signal);
  } finally {
    response.off('close', abort);
  }
}
