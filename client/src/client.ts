import type { Answer, Arguments, Item, Method, PathOf, Tagged } from './operations.ts';
import { HeadwaterProblem } from './problem.ts';
import { readStream, type StreamMessage } from './read-stream.ts';

export interface ClientOptions {
  /** The URL of the server: `https://hooks.example.com`. */
  url: string;
  /** Absent: `fetch` signs the requests. */
  apiKey?: string;
  /** How often a request is made again after 429 or 503 with `Retry-After`. Default: 3. */
  maxRetries?: number;
  /** Longer waits are not waited for. Default: 60. */
  maxRetryAfterSeconds?: number;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * The REST API, typed by its OpenAPI document. Each method throws HeadwaterProblem if the server
 * refuses, and the error of `fetch` if it does not answer.
 */
export interface Client {
  get<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): Promise<Answer<P, 'get'>>;
  post<P extends PathOf<'post'>>(path: P, ...options: Arguments<P, 'post'>): Promise<Answer<P, 'post'>>;
  /** A resource, as it was read or changed, with its `etag` for `if-match` of the next change. */
  tagged<M extends Method, P extends PathOf<M>>(method: M, path: P, ...options: Arguments<P, M>): Promise<Tagged<P, M>>;
  put<P extends PathOf<'put'>>(path: P, ...options: Arguments<P, 'put'>): Promise<Answer<P, 'put'>>;
  delete<P extends PathOf<'delete'>>(path: P, ...options: Arguments<P, 'delete'>): Promise<Answer<P, 'delete'>>;
  /** Every entry of a list, page after page. */
  all<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): AsyncGenerator<Item<P>>;
  /** Messages of a stream; it resumes after a lost connection. */
  stream<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): AsyncGenerator<StreamMessage>;
}

/** Options of any operation, as the requests are made of them. */
interface AnyOptions {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

interface ListAnswer {
  data: unknown[];
  page_info?: { end_cursor: string | null };
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;

export function createClient(options: ClientOptions): Client {
  const ask = async (method: Method, path: string, given: AnyOptions = {}) => {
    const response = await request(options, method, path, given);
    const text = await response.text();
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
  const methods = (['get', 'post', 'put', 'delete'] as const).map((method) => [
    method,
    (path: string, given?: AnyOptions) => ask(method, path, given),
  ]);
  const rest = {
    async tagged(method: Method, path: string, given: AnyOptions = {}) {
      const response = await request(options, method, path, given);
      const etag = response.headers.get('etag');
      const { data } = (await response.json()) as { data: object };
      return etag === null ? data : { ...data, etag };
    },
    async *all(path: string, given: AnyOptions = {}) {
      for (let after: string | undefined; ; ) {
        const query = { limit: 100, ...given.query, ...(after === undefined ? {} : { after }) };
        const { data, page_info: info } = (await ask('get', path, { ...given, query })) as ListAnswer;
        yield* data;
        if (typeof info?.end_cursor !== 'string' || info.end_cursor === after) return;
        after = info.end_cursor;
      }
    },
    stream: (path: string, given: AnyOptions = {}) => follow(options, path, given),
  };
  return { ...Object.fromEntries(methods), ...rest } as Client;
}

async function* follow(options: ClientOptions, path: string, given: AnyOptions): AsyncGenerator<StreamMessage> {
  // Before the loop, which would take a mistake of the caller for a lost connection.
  const filled = fill(path, given);
  let lastId = given.headers?.['last-event-id'];
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const resumed = lastId === undefined ? {} : { 'last-event-id': lastId };
    const headers = { ...given.headers, accept: 'text/event-stream', ...resumed };
    try {
      const { body } = await request(options, 'get', filled, { ...given, headers });
      for await (const message of body === null ? [] : readStream(body)) {
        if (message.id !== '') lastId = message.id;
        waitMs = FIRST_WAIT_MS;
        yield message;
      }
    } catch (error) {
      // Asking again does not help.
      if (given.signal?.aborted === true || (error instanceof HeadwaterProblem && error.status < 500)) throw error;
    }
    await sleep(waitMs * (0.5 + Math.random() / 2), given.signal);
  }
}

async function request(options: ClientOptions, method: Method, path: string, given: AnyOptions): Promise<Response> {
  const { query, body, headers, signal } = given;
  const { url, apiKey, maxRetries = 3, maxRetryAfterSeconds = 60 } = options;
  const send = options.fetch ?? fetch;
  const init = {
    method: method.toUpperCase(),
    headers: {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  for (let retries = 0; ; retries++) {
    const response = await send(url.replace(/\/$/, '') + fill(path, given) + queryOf(query), init);
    if (response.ok) return response;
    const text = await response.text();
    const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const mayRetry = (response.status === 429 || response.status === 503) && waitSeconds <= maxRetryAfterSeconds;
    if (!mayRetry || retries >= maxRetries) throw new HeadwaterProblem(response.status, parse(text));
    await sleep(waitSeconds * 1_000, signal);
  }
}

const OPTIONS = ['path', 'query', 'body', 'headers', 'signal'];

/** Throws TypeError for a name that is missing, and for an option that would have no effect. */
function fill(path: string, given: AnyOptions): string {
  // TypeScript does not find it behind a spread. A condition without effect loses a write.
  const unknown = Object.keys(given).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new TypeError(`${path} has no option ${unknown}. Use one of ${OPTIONS.join(', ')}`);
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given.path?.[name];
    if (value === undefined) throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Readonly<Record<string, unknown>> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) given.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy answered something else.
    return undefined;
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    signal?.addEventListener('abort', end, { once: true });
  });
}
