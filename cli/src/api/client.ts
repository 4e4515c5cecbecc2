import { openAsBlob } from 'node:fs';
import {
  createTransport,
  HeadwaterProblem,
  type Method,
  type RequestParts,
  type StreamMessage,
  type Transport,
} from '@headwater/client/transport';
import { NDJSON_TYPE } from '@headwater/shared';
import { CliError } from '../cli-error.ts';
import { problemError } from './problem.ts';
import { readRecords } from './read-lines.ts';
import { LIST_ANSWERS, MAX_ANSWER_BYTES, readText, TooLarge } from './read-text.ts';
import { unreachableError } from './unreachable.ts';
import { parseExactJson } from '../exact-json.ts';

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

interface ListAnswer<T> {
  data: T[];
  page_info?: { total_count: number; end_cursor: string | null; scanned_until?: number };
}

/**
 * The REST API of one server for one key. Paths begin after `/v1`; answers are what is in `data`.
 */
export interface ApiClient {
  url: string;
  get<T>(path: string, query?: Parameters): Promise<T>;
  /** One page, at most 100. */
  page<T>(path: string, query?: Parameters): Promise<T[]>;
  /** One page with the cursor of what follows it. */
  list<T>(path: string, query?: Parameters): Promise<ListAnswer<T>>;
  /** Everything, page after page. */
  all<T>(path: string, query?: Parameters): Promise<T[]>;
  /**
   * Everything that a list has, read as it comes: one record is in memory. A connection that breaks
   * is taken up again behind the last record.
   */
  lines<T>(path: string, query: Parameters, cursorOf: (record: T) => string): AsyncGenerator<T>;
  /** A resource with its `etag`, which the answer has in a header. */
  tagged<T>(path: string): Promise<T & { etag?: string }>;
  send<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, headers?: Named): Promise<T>;
  /** POSTs a file, however long that and the answer take. */
  upload<T>(path: string, file: string, headers: Named): Promise<T>;
  /** An answer that goes on, of which nothing has been read; throws where it is refused. */
  open(path: string, query: Parameters, headers: Named): Promise<Response>;
  /**
   * Messages of a stream, over any number of connections: each goes on behind the last message.
   * Throws `interrupted` with Ctrl-C, and the server's error where it refuses for good.
   */
  stream(path: string, query: Parameters, watch: Watch): AsyncGenerator<StreamMessage>;
}

type Named = Readonly<Record<string, string>>;

interface Watch {
  /** The last message that is known already. */
  lastId?: string | undefined;
  /** The connection was lost; told once until it is back. */
  onLost(reason: string): void;
  onBack(): void;
}

export interface ClientOptions {
  url: string;
  apiKey: string;
  /** Ctrl-C. */
  signal: AbortSignal;
  /** Default: three minutes, more than fetching packages and running hooks may take. */
  timeoutMs?: number;
  /** Hint for an error about a refused key. */
  refusedHint?: string;
  /** The variable that names a proxy on the way. */
  proxy?: string | undefined;
  /**
   * Largest answer in bytes; all pages of a list may have LIST_ANSWERS times that. Default:
   * MAX_ANSWER_BYTES.
   */
  maxAnswerBytes?: number;
  /** Called before each wait that a busy server asks for. */
  onWait?: (seconds: number) => void;
}

interface Limits {
  /** A request with its answer ends after this time. */
  timeoutMs?: number;
  /** All answers together have no more. */
  maxBytes?: number;
}

const TIMEOUT_MS = 180_000;

export function createApiClient(options: ClientOptions): ApiClient {
  const { url, signal, timeoutMs = TIMEOUT_MS, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const connect = (limits: Limits = {}) => connectWithin(options, limits);
  const lost = (cause: unknown) => describeError(cause, options);
  const fail = (cause: unknown) => Promise.reject(lost(cause));
  const ask = (method: Method, path: string, parts: RequestParts = {}, limits: Limits = { timeoutMs }) =>
    connect(limits)
      .ask(method, path, { ...parts, signal })
      .catch(fail);
  const list = async <T>(path: string, query: Parameters) => (await ask('get', path, { query })).body as ListAnswer<T>;
  const open: ApiClient['open'] = (path, query, headers) =>
    connect().open('get', path, { query, headers, signal }).catch(fail);
  return {
    url,
    get: async <T>(path: string, query: Parameters = {}) => dataOf(await ask('get', path, { query })) as T,
    page: async <T>(path: string, query: Parameters = {}) => (await list<T>(path, query)).data,
    list: (path, query = {}) => list(path, query),
    async all<T>(path: string, query: Parameters = {}) {
      const transport = connect({ timeoutMs, maxBytes: maxAnswerBytes * LIST_ANSWERS });
      const items: T[] = [];
      try {
        for await (const item of transport.all(path, { query, signal })) items.push(item as T);
      } catch (cause) {
        throw lost(cause);
      }
      return items;
    },
    lines: <T>(path: string, query: Parameters, cursorOf: (record: T) => string) =>
      readRecords<T>((after) => open(path, { ...query, after }, { accept: NDJSON_TYPE }), { cursorOf, lost }),
    async *stream(path, query, { lastId, onLost, onBack }) {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      const reasonOf = (cause: unknown) => (cause === undefined ? 'the server closed the stream' : lost(cause).message);
      const watch = { onBack, onLost: (cause: unknown) => onLost(reasonOf(cause)) };
      try {
        yield* connect().stream(path, { query, headers, signal }, watch);
      } catch (cause) {
        throw lost(cause);
      }
    },
    async tagged<T>(path: string) {
      const answer = await ask('get', path);
      const etag = answer.headers.get('etag')?.replaceAll('"', '');
      return { ...(dataOf(answer) as T), ...(etag === undefined ? {} : { etag }) };
    },
    send: async <T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: unknown = {}, headers: Named = {}) =>
      dataOf(await ask(LOWER[method], path, { body, headers })) as T,
    upload: async <T>(path: string, file: string, headers: Named) =>
      dataOf(await ask('post', path, { body: await openAsBlob(file), headers }, {})) as T,
    open,
  };
}

function connectWithin(options: ClientOptions, { timeoutMs, maxBytes }: Limits): Transport {
  const { url, apiKey, signal, maxAnswerBytes = MAX_ANSWER_BYTES, onWait } = options;
  let room = maxBytes ?? maxAnswerBytes;
  return createTransport({
    url: `${url}/v1`,
    apiKey,
    ...(onWait === undefined ? {} : { onWait }),
    fetch(to, init) {
      const within = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      // A redirect could lead the key elsewhere.
      return fetch(to, { ...init, redirect: 'manual', signal: within });
    },
    async text(response) {
      const { text, bytes } = await readText(response, Math.min(room, maxAnswerBytes));
      room -= bytes;
      return text;
    },
    parse: parseAnswer,
  });
}

function dataOf({ body }: { body: unknown }): unknown {
  return (body as { data: unknown } | undefined)?.data;
}

const LOWER = { POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

class NotAnAnswer extends Error {}

function parseAnswer(text: string): unknown {
  try {
    const body = parseExactJson(text);
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // Said below.
  }
  throw new NotAnAnswer(text.slice(0, 100));
}

/** Every failure of a request, as the user is told of it. */
function describeError(cause: unknown, { url, signal, refusedHint, proxy }: ClientOptions): CliError {
  if (cause instanceof CliError) return cause;
  if (cause instanceof HeadwaterProblem) return problemError(cause, url, refusedHint);
  if (signal.aborted) return interrupted();
  if (cause instanceof TooLarge) return notHeadwater(`${url} answers without end`);
  if (cause instanceof NotAnAnswer) return notHeadwater(`${url} answered something that is not a Headwater server's`);
  return unreachableError(url, cause, proxy);
}

function notHeadwater(message: string): CliError {
  return new CliError('unreachable', message, { hint: 'Check the address: hw whoami shows which one is used' });
}

export function interrupted(): CliError {
  return new CliError('interrupted', 'Interrupted');
}

/**
 * Wraps the creation of a resource: after Ctrl-C, the client cannot know whether the server made
 * it.
 */
export async function making<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== 'interrupted') throw error;
    throw new CliError('interrupted', 'Interrupted: the server may have made it all the same', {
      hint: 'See: hw list',
    });
  }
}
