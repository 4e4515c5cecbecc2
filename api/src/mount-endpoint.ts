import type { Condition, Engine, Principal, RateLimitState } from '@headwater/engine';
import { HeadwaterError, isStorableText, LIMITS } from '@headwater/shared';
import type { Hono } from 'hono';
import { type AccountTurns, announcedBytes } from './account-turns.ts';
import { selectionOf, chosenTextOf } from './answer-fields.ts';
import type { LargeAnswer } from './answer-text.ts';
import { audiences, auditedRequest, auditEntry, type Change, isAudited, orNone } from './audit.ts';
import { NOBODY } from './caller.ts';
import { callerTraceOf } from './caller-trace.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { acceptedEncoding, encodeContent } from './content-encoding.ts';
import type { ApiContext, ApiEnv } from './environment.ts';
import { type OpenExports, wantsLines } from './export-lines.ts';
import { isOfMember, requireScope } from './key-scope.ts';
import type { Log } from './log.ts';
import { answerOnce, fingerprintOf, idempotencyKeyOf, KEY_HEADER, type MadeAnswer } from './idempotent-answers.ts';
import type { ReadClientFacts } from './ingest/client-facts.ts';
import { conditionOf, etagOf, expectedRevisions } from './if-match.ts';
import { authenticateKey, isAdminKey, requireAdmin } from './middleware/authenticate.ts';
import { readBodyBytes, utf8Text } from './parameters/read-body.ts';
import { checkParameters, parameterKinds, readParameters } from './parameters/read-parameters.ts';
import { findUnknownNames, unknownNameErrors } from './parameters/unknown-names.ts';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';
import { type CountChars, type QueryTurns, uncounted } from './query-turns.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { recordToJson } from './raw-json.ts';
import { RUN_HEADER } from './run-header.ts';
import { keyOfRequest } from './stream-token.ts';
import { exportInput, isStillAdmitted, sendLines, sendMessages } from './streamed-answers.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';
import type { UnreadAnswers } from './unread-answers.ts';

export interface MountOptions {
  /** The read of the resource that the endpoint changes. */
  shownBy?: Endpoint | undefined;
  /** The same for the audit log. */
  before?: Endpoint | undefined;
  clientFacts?: ReadClientFacts | undefined;
  engine: Engine;
  log: Log;
  turns: AccountTurns;
  queries: QueryTurns;
  unread: UnreadAnswers;
  unfinished: UnfinishedBodies;
  exports: OpenExports;
  adminKey?: string;
}

/** Their answers have the caller's own key or person, which no other of the account may get. */
const OF_ONE_CALLER = new Set(['createStreamToken', 'beginPasskey']);

export function mountEndpoint(app: Hono<ApiEnv>, endpoint: Endpoint, options: MountOptions): void {
  const { engine } = options;
  const kinds = parameterKinds(endpoint.parameters);
  app.on([endpoint.method.toUpperCase()], routingPaths(endpoint.path), async (c: ApiContext) => {
    c.set('route', endpoint.path);
    const apiKey = keyOfRequest(c, endpoint, engine);
    const who = await admit(c, endpoint, apiKey, options);
    c.set('accountId', who.accountId);
    if (who !== NOBODY) engine.usage.count(who.accountId, 'requests', 1);
    const id = checkPathId(c.req.param('id') ?? '', endpoint);
    const body = await readBody(c, endpoint, who.accountId, options);
    const input = await readInput(c, endpoint, { kinds, body, who, id }, options);
    const lastEventId = c.req.header('last-event-id');
    const condition = readCondition(endpoint, c.req.header('if-match'), c.req.header('if-none-match'));
    const expected = expectedRevisions(condition);
    const showRateLimit = (state: RateLimitState) => {
      for (const [name, value] of Object.entries(rateLimitHeaders(state))) c.header(name, value);
    };
    const caller = callerTraceOf((name) => c.req.header(name));
    const request = { engine, who, id, input, lastEventId, expected, condition, apiKey, caller, showRateLimit };
    const handle = (count: CountChars) => endpoint.handle({ ...request, count });
    if (endpoint.success.messages === true) {
      const isAdmitted = () => isStillAdmitted(engine, apiKey, { endpoint, who, id });
      return sendMessages(c, await handle(uncounted), isAdmitted, options);
    }
    if (endpoint.exported !== undefined && wantsLines(c.req.header('accept'))) {
      const readPage = (after: string | undefined, count: CountChars) =>
        endpoint.handle({ engine, who, id, input: exportInput(endpoint, input, after), count });
      const isAdmitted = async () => who === NOBODY || isStillAdmitted(engine, apiKey, { endpoint, who, id });
      return sendLines(c, { endpoint, who, isAdmitted, readPage }, options);
    }
    const makeText = async (headers: MadeAnswer['headers'], count: CountChars, onMade: (reply: Reply) => void) => {
      const reply = await handle(count);
      onMade(reply);
      if (reply.kind === 'item' && reply.runId !== undefined) headers[RUN_HEADER] = reply.runId;
      if (reply.kind === 'item' && reply.revision !== undefined) headers['etag'] = etagOf(reply.revision);
      return chosenTextOf(reply, selectionOf(input), count);
    };
    const make = async (): Promise<MadeAnswer> => {
      const headers = {};
      const inTurn = (onMade: (reply: Reply) => void) =>
        who !== NOBODY && takesTurn(endpoint, input)
          ? options.queries.run(who.accountId, (count) => makeText(headers, count, onMade))
          : makeText(headers, uncounted, onMade);
      const text = await audited(c, options, { endpoint, who, id }, inTurn);
      return { status: text === null ? endpoint.success.status : 200, headers, text };
    };
    const isKept = endpoint.method === 'post' && !OF_ONE_CALLER.has(endpoint.name);
    const key = isKept ? idempotencyKeyOf(c.req.header(KEY_HEADER)) : undefined;
    if (key === undefined) return send(c, who.accountId, await make(), options);
    const asked = { accountId: who.accountId, key, fingerprint: fingerprintOf('POST', c.req.url, body) };
    const answering = { engine, log: options.log, requestId: c.get('requestId') };
    return send(c, who.accountId, await answerOnce(answering, asked, make), options);
  });
}

function fieldsOf(reply: Reply): Record<string, unknown> | undefined {
  return reply.kind === 'item' ? (JSON.parse(recordToJson(reply.data)) as Record<string, unknown>) : undefined;
}

async function readBefore(options: MountOptions, who: Principal, id: string) {
  const { engine, before, queries } = options;
  if (before === undefined) return undefined;
  const input = checkParameters(before.parameters, {});
  const read = async (count: CountChars) => {
    const reply = await before.handle({ engine, who, id, input, count });
    return reply.kind === 'item' ? recordToJson(reply.data) : null;
  };
  const text = await orNone(() => (who === NOBODY ? read(uncounted) : queries.run(who.accountId, read)));
  return text === undefined || text === null ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

/**
 * Stores the entry outside the request's turn: requests that wait for their turn then store their
 * entries together.
 */
async function audited<T>(
  c: ApiContext,
  options: MountOptions,
  change: Pick<Change, 'endpoint' | 'who' | 'id'>,
  make: (onMade: (reply: Reply) => void) => Promise<T>,
): Promise<T> {
  if (!isAudited(change.endpoint)) return make(() => undefined);
  const { engine, clientFacts } = options;
  const before = await readBefore(options, change.who, change.id);
  const about = { ...change, before, request: auditedRequest(c, clientFacts) };
  // Read before the change: a failure leaves nothing changed.
  const everywhere = await audiences(engine, change.endpoint, change.who);
  let reply: Reply | undefined;
  const outcome = await engine.audit.change(
    auditEntry(about),
    async () => {
      try {
        return { answer: await make((made) => void (reply = made)) };
      } catch (error) {
        // The change is made: only its answer has failed.
        if (reply !== undefined) return { error };
        throw error;
      }
    },
    () => everywhere.map((who) => auditEntry({ ...about, who, after: reply && fieldsOf(reply) })),
  );
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

/** A shorter answer fits in one packet as it is. */
const MIN_ENCODED_CHARS = 1_400;

async function send(
  c: ApiContext,
  accountId: string,
  { status, headers: own, text }: MadeAnswer,
  { engine, unread }: MountOptions,
): Promise<Response> {
  for (const [name, value] of Object.entries(own)) c.header(name, value);
  if (text === null) return c.body(null, status as 204);
  if (accountId !== '') engine.usage.count(accountId, 'bytesOut', bytesOf(text));
  const type = status < 400 ? 'application/json' : PROBLEM_CONTENT_TYPE;
  // Answers hold secrets and other people's data: no cache on the way may keep them.
  const headers = { 'content-type': type, 'cache-control': 'no-store' };
  if (text.length < MIN_ENCODED_CHARS && typeof text === 'string') return c.body(text, status as 200, headers);
  c.header('vary', 'accept-encoding', { append: true });
  const accepted = c.req.header('accept-encoding');
  if (typeof text === 'string') {
    const encoding = acceptedEncoding(accepted);
    if (encoding === undefined) return c.body(text, status as 200, headers);
    const encoded = await encodeContent(new TextEncoder().encode(text), encoding);
    return c.body(encoded, status as 200, { ...headers, 'content-encoding': encoding });
  }
  const { outgoing } = c.env;
  if (outgoing !== undefined) unread.hold(accountId, outgoing, text.length);
  const plain = text.stream(() => outgoing?.destroy());
  // Piece by piece, as the client takes them: brotli would take longer for each.
  const encoding = acceptedEncoding(accepted, ['gzip']);
  if (encoding === undefined) return c.body(plain, 200, { ...headers, 'content-length': String(text.length) });
  const encoded = plain.pipeThrough(new CompressionStream(encoding));
  return c.body(encoded, 200, { ...headers, 'content-encoding': encoding });
}

/** Characters for a long answer: it is written piece by piece. */
function bytesOf(text: string | LargeAnswer): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length;
}

/**
 * Throws INVALID_REQUEST where a change asks for what it could only ignore: a write would be lost.
 */
function readCondition(
  { isVersioned, method, path }: Endpoint,
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): Condition | undefined {
  if (method === 'get') return undefined;
  if (isVersioned === true) return conditionOf(ifMatch, ifNoneMatch);
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const message = `${method.toUpperCase()} ${path} has no etag to compare with: leave if-match out`;
  throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'if-match', message }] });
}

async function readBody(
  { req, env: { incoming } }: ApiContext,
  { method }: Endpoint,
  accountId: string,
  { engine, turns, unfinished }: MountOptions,
): Promise<string> {
  const isRead = method !== 'get' && incoming !== undefined;
  const announced = isRead ? announcedBytes({ headers: req.header() }) : 0;
  // A body that is too large takes no turn: it is refused before it is read.
  if ((announced ?? 0) <= LIMITS.maxApiBodyBytes) await turns.take(accountId, announced);
  if (!isRead) return '';
  const held = unfinished.begin(accountId, announced, () => incoming.destroy());
  const bytes = await readBodyBytes(incoming, LIMITS.maxApiBodyBytes, held?.add).finally(held?.end);
  if (accountId !== '') engine.usage.count(accountId, 'bytesIn', bytes.length);
  if (announced === undefined) turns.count(accountId, bytes.length);
  return utf8Text(bytes);
}

interface Given {
  kinds: ReturnType<typeof parameterKinds>;
  body: string;
  who: Principal;
  id: string;
}

/** Throws INVALID_REQUEST with everything that is wrong, and with what the resource is now. */
async function readInput(
  c: ApiContext,
  endpoint: Endpoint,
  { kinds, body, who, id }: Given,
  options: MountOptions,
): Promise<Record<string, unknown>> {
  const { parameters, takesAnyName } = endpoint;
  const isChecked = namesAreChecked(endpoint);
  const raw = readParameters(c.req.raw, body, kinds, isChecked || takesAnyName === true ? 'kept' : 'ignored');
  const unknown = isChecked ? findUnknownNames(parameters, raw) : [];
  const shown = unknown.length === 0 ? undefined : await showResource(options, who, id);
  return checkParameters(parameters, raw, unknownNameErrors(unknown, raw, shown));
}

/**
 * Links to a single thing may carry names of others (`utm_source`). A list with a filter that is
 * misspelt would answer everything, and a change would do something else.
 */
function namesAreChecked({ method, takesAnyName = false, success, isCounted }: Endpoint): boolean {
  return !takesAnyName && (method !== 'get' || success.list || isCounted === true);
}

/** As its read would answer it now; undefined where there is none. */
async function showResource(
  { shownBy, engine, queries }: MountOptions,
  who: { accountId: string; userId: string },
  id: string,
): Promise<unknown> {
  if (shownBy === undefined) return undefined;
  const input = checkParameters(shownBy.parameters, {});
  const read = async (count: CountChars) => {
    const reply = await shownBy.handle({ engine, who, id, input, count });
    return reply.kind === 'item' ? recordToJson(reply.data) : null;
  };
  try {
    const text = await queries.run(who.accountId, read);
    return text === null ? undefined : JSON.parse(text);
  } catch (error) {
    // The names are wrong, whatever they were to be set on.
    if (error instanceof HeadwaterError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** The operator waits for nobody. A stream has turns of its own. */
function takesTurn({ takesTurn: says = true }: Endpoint, input: Record<string, unknown>): boolean {
  return typeof says === 'boolean' ? says : says(input);
}

/**
 * As the router wants them: what clients may write in two ways (`$errors`, `%24errors`) is there in
 * both.
 */
export function routingPaths(path: string): string[] {
  const plain = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return [...new Set([plain, plain.replaceAll('$', '%24')])];
}

async function admit(c: ApiContext, endpoint: Endpoint, key: string, options: MountOptions) {
  const isOperator = endpoint.access === 'either' && isAdminKey(options.adminKey, key);
  if (endpoint.access !== 'admin' && !isOperator) {
    const who = await authenticateKey(options.engine, key, options.adminKey);
    requireScope(who, endpoint, c.req.param('id'));
    if (endpoint.method !== 'get' && !isOfMember(endpoint)) await options.engine.accounts.requireActive(who.accountId);
    return who;
  }
  await requireAdmin(options.engine, options.adminKey, key);
  return NOBODY;
}

/** No resource has an id that cannot be stored, so asking for one is a 404 like any other. */
function checkPathId(id: string, endpoint: Endpoint): string {
  if (id.length <= LIMITS.maxIdChars && isStorableText(id)) return id;
  throw new HeadwaterError('NOT_FOUND', `There is nothing at ${endpoint.path} with that id`);
}
