import type { Engine, Page, Principal, RateLimitState } from '@headwater/engine';
import { HeadwaterError, isStorableText, LIMITS } from '@headwater/shared';
import type { Hono } from 'hono';
import { type AccountTurns, announcedBytes } from './account-turns.ts';
import { joinParts, type LargeAnswer } from './answer-text.ts';
import { auditEntry, type Change, isAudited, orNone } from './audit.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import type { ApiContext, ApiEnv } from './environment.ts';
import { eventStream } from './event-stream.ts';
import { lineStream, LINES_TYPE, type OpenExports, wantsLines } from './export-lines.ts';
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
import type { CountChars, QueryTurns } from './query-turns.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { charsIn, recordParts, recordToJson } from './raw-json.ts';
import { pageInfo } from './resources/page.ts';
import { RUN_HEADER } from './run-header.ts';
import { keyOfRequest } from './stream-token.ts';
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

// Placeholder caller for operator endpoints, which have no tenant. The handler's type does not show
// it.
const NOBODY: Principal = { accountId: '', userId: '' };

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
    const raw = readParameters(c.req.raw, body, kinds, endpoint.method === 'get' ? 'ignored' : 'kept');
    const unknown = namesAreChecked(endpoint) ? findUnknownNames(endpoint.parameters, raw) : [];
    const shown = unknown.length === 0 ? undefined : await showResource(options, who, id);
    const input = checkParameters(endpoint.parameters, raw, unknownNameErrors(unknown, raw, shown));
    const lastEventId = c.req.header('last-event-id');
    const condition = isConditional(endpoint)
      ? conditionOf(c.req.header('if-match'), c.req.header('if-none-match'))
      : undefined;
    const expected = expectedRevisions(condition);
    const showRateLimit = (state: RateLimitState) => {
      for (const [name, value] of Object.entries(rateLimitHeaders(state))) c.header(name, value);
    };
    const handle = (count: CountChars) =>
      endpoint.handle({ engine, who, id, input, lastEventId, expected, condition, count, apiKey, showRateLimit });
    if (endpoint.success.messages === true) {
      const isAdmitted = () => isStillAdmitted(engine, apiKey, { endpoint, who, id });
      return sendMessages(c, await handle(uncounted), isAdmitted, options);
    }
    if (endpoint.exported !== undefined && wantsLines(c.req.header('accept'))) {
      const readPage = (after: string | undefined, count: CountChars) =>
        endpoint.handle({ engine, who, id, input: exportInput(endpoint, input, after), count });
      {
        const isAdmitted = async () => who === NOBODY || isStillAdmitted(engine, apiKey, { endpoint, who, id });
        return sendLines(c, { endpoint, who, isAdmitted, readPage }, options);
      }
    }
    const makeText = async (headers: MadeAnswer['headers'], count: CountChars) => {
      const reply = await handle(count);
      if (isAudited(endpoint)) await audit(c, options, { endpoint, who, id, before, after: fieldsOf(reply) });
      if (reply.kind === 'item' && reply.runId !== undefined) headers[RUN_HEADER] = reply.runId;
      if (reply.kind === 'item' && reply.revision !== undefined) headers['etag'] = etagOf(reply.revision);
      return textOf(reply, selectionOf(input), count);
    };
    const before = await readBefore(options, who, id);
    const make = async (): Promise<MadeAnswer> => {
      const headers = {};
      const text = await (who !== NOBODY && takesTurn(endpoint, input)
        ? options.queries.run(who.accountId, (count) => makeText(headers, count))
        : makeText(headers, uncounted));
      return { status: text === null ? endpoint.success.status : 200, headers, text };
    };
    // The token contains the caller's own key, which another caller of the account must not get.
    const isKept = endpoint.method === 'post' && endpoint.name !== 'createStreamToken';
    const key = isKept ? idempotencyKeyOf(c.req.header(KEY_HEADER)) : undefined;
    if (key === undefined) return send(c, who.accountId, await make(), options);
    const request = { accountId: who.accountId, key, fingerprint: fingerprintOf('POST', c.req.url, body) };
    const answering = { engine, log: options.log, requestId: c.get('requestId') };
    return send(c, who.accountId, await answerOnce(answering, request, make), options);
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
 * The change is made: where it cannot be recorded the log says so, and the client has its answer.
 */
async function audit(
  c: ApiContext,
  { engine, log, clientFacts }: MountOptions,
  change: Omit<Change, 'address' | 'requestId'>,
) {
  const { incoming } = c.env;
  const address =
    incoming === undefined ? undefined : (clientFacts?.(incoming).clientIp ?? incoming.socket.remoteAddress);
  const requestId = c.get('requestId');
  try {
    await engine.audit.record(auditEntry({ ...change, address, requestId }));
  } catch (err) {
    log.error(
      { err, request_id: requestId, action: change.endpoint.name },
      'a change was made that is not in the audit log',
    );
  }
}

function send(
  c: ApiContext,
  accountId: string,
  { status, headers: own, text }: MadeAnswer,
  { engine, unread }: MountOptions,
): Response {
  for (const [name, value] of Object.entries(own)) c.header(name, value);
  if (text === null) return c.body(null, status as 204);
  if (accountId !== '') engine.usage.count(accountId, 'bytesOut', bytesOf(text));
  const type = status < 400 ? 'application/json' : PROBLEM_CONTENT_TYPE;
  // Answers hold secrets and other people's data: no cache on the way may keep them.
  const headers = { 'content-type': type, 'cache-control': 'no-store' };
  if (typeof text === 'string') return c.body(text, status as 200, headers);
  const { outgoing } = c.env;
  if (outgoing !== undefined) unread.hold(accountId, outgoing, text.length);
  return c.body(
    text.stream(() => outgoing?.destroy()),
    200,
    { ...headers, 'content-length': String(text.length) },
  );
}

/** Characters for a long answer: it is written piece by piece. */
function bytesOf(text: string | LargeAnswer): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length;
}

function isConditional({ isVersioned, method }: Endpoint): boolean {
  return isVersioned === true && method !== 'get';
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

/**
 * Links to reads may carry names of others (`utm_source`), and whoever changes something must be
 * able to rely on each.
 */
function namesAreChecked({ method, takesAnyName = false }: Endpoint): boolean {
  return method !== 'get' && !takesAnyName;
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

const uncounted: CountChars = () => undefined;

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
    const who = await authenticateKey(options.engine, key);
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

/** The fields of an answer; both empty: all. */
interface Selection {
  kept: ReadonlySet<string>;
  dropped: ReadonlySet<string>;
}

/** Read once for an answer: a list would read it again for each of its items. */
function selectionOf({ include, exclude }: { include?: unknown; exclude?: unknown }): Selection {
  return { kept: namesIn(include), dropped: namesIn(exclude) };
}

function namesIn(list: unknown): Set<string> {
  if (typeof list !== 'string') return new Set();
  return new Set(
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

/** Null where nothing is answered. */
async function textOf(reply: Reply, selection: Selection, count: CountChars): Promise<string | LargeAnswer | null> {
  switch (reply.kind) {
    case 'none':
      return null;
    case 'item':
      return joinParts(itemParts(reply.data, selection, count));
    case 'list':
      return joinParts(listParts(reply.page, selection, count));
    case 'messages':
      throw new Error('A stream is no text');
  }
}

/**
 * Whether what began with this key or session may go on. A session that names no account is one of
 * another account once its member has left this one, and a role may change.
 */
async function isStillAdmitted(
  engine: MountOptions['engine'],
  apiKey: string,
  { endpoint, who, id }: { endpoint: Endpoint; who: Principal; id: string },
): Promise<boolean> {
  const now = await engine.accounts.authenticate(apiKey);
  if (now === undefined || now.accountId !== who.accountId) return false;
  try {
    requireScope(now, endpoint, id);
    return true;
  } catch {
    return false;
  }
}

function sendMessages(
  c: ApiContext,
  reply: Reply,
  isAdmitted: () => Promise<boolean>,
  { log }: Pick<MountOptions, 'log'>,
): Response {
  if (reply.kind !== 'messages') throw new Error('Only messages make a stream');
  const { messages } = reply;
  // Nobody would read, and so nobody would close it.
  if (c.req.raw.method === 'HEAD') messages.close();
  const body = eventStream(messages, {
    isAdmitted,
    cutOff: () => c.env.outgoing?.destroy(),
    onError: (err) => log.error({ request_id: c.get('requestId'), route: c.get('route'), err }, 'a stream ended early'),
  });
  // A proxy that collects an answer before it passes it on would pass on nothing.
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return c.body(body, 200, headers);
}

interface Export {
  endpoint: Endpoint;
  who: Principal;
  isAdmitted: () => Promise<boolean>;
  readPage: (after: string | undefined, count: CountChars) => Promise<Reply>;
}

/** Pages are as large as they may be, and go on behind the one before. */
function exportInput({ exported }: Endpoint, input: Record<string, unknown>, after: string | undefined) {
  const { include: _, exclude: __, ...given } = input;
  const place = after === undefined ? {} : { after };
  return { ...given, ...exported?.parameters, ...place, limit: LIMITS.maxPageSize };
}

async function sendLines(
  c: ApiContext,
  { endpoint, who, isAdmitted, readPage }: Export,
  { engine, queries, exports, log }: MountOptions,
): Promise<Response> {
  const list = endpoint.exported;
  if (list === undefined) throw new Error('Only a list that is exported makes lines');
  const open = exports.open(who.accountId);
  const read = async (after: string | undefined): Promise<Page<object>> => {
    let page: Page<object> = { items: [], total: 0 };
    const ask = async (count: CountChars) => {
      const reply = await readPage(after, count);
      if (reply.kind === 'list') page = reply.page;
      for (const item of page.items) for (const value of Object.values(item)) count(charsIn(value));
      return null;
    };
    await (who === NOBODY ? ask(uncounted) : queries.run(who.accountId, ask));
    return page;
  };
  const about = { request_id: c.get('requestId'), route: c.get('route') };
  const body = await lineStream({
    list,
    readPage: read,
    isAdmitted,
    onBytes: (bytes) => who !== NOBODY && engine.usage.count(who.accountId, 'bytesOut', bytes),
    cutOff: () => c.env.outgoing?.destroy(),
    onError: (err) => log.error({ ...about, err }, 'an export ended early'),
    onEnd: open.close,
  }).catch((error: unknown) => {
    open.close();
    throw error;
  });
  const headers = { 'content-type': LINES_TYPE, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  if (c.req.raw.method !== 'HEAD') return c.body(body, 200, headers);
  // Nobody would read it.
  await body.cancel();
  return c.body(null, 200, headers);
}

function* itemParts(item: object, selection: Selection, count: CountChars): Generator<string> {
  yield '{"data":';
  yield* selectedParts(item, selection, count);
  yield '}';
}

function* listParts(page: Page<object>, selection: Selection, count: CountChars): Generator<string> {
  yield `{"page_info":${JSON.stringify(pageInfo(page))},"data":[`;
  for (const [index, item] of page.items.entries()) {
    if (index > 0) yield ',';
    yield* selectedParts(item, selection, count);
  }
  yield ']}';
}

function selectedParts(record: object, { kept, dropped }: Selection, count: CountChars): Iterable<string> {
  if (kept.size === 0 && dropped.size === 0) return recordParts(record);
  const isShown = (name: string) => (kept.size === 0 || kept.has(name)) && !dropped.has(name);
  const fields = Object.entries(record);
  for (const [name, value] of fields) if (!isShown(name)) count(charsIn(value));
  return recordParts(Object.fromEntries(fields.filter(([name]) => isShown(name))));
}
