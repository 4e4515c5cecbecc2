import { HeadwaterProblem } from './problem.ts';
import { readStream, type StreamMessage } from './read-stream.ts';

export { HeadwaterProblem, type StreamMessage };

/*
 * How requests are made: retries, pages, streams. Nothing here needs the types of the document, so
 * that `hw` stands on it as well.
 */

export interface TransportOptions {
  /** The URL of the server: `https://hooks.example.com`. */
  url: string;
  /** Absent: `fetch` signs the requests. */
  apiKey?: string;
  /** How often a request is made again after 429 or 503 with `Retry-After`. Default: 3. */
  maxRetries?: number;
  /** Longer waits are not waited for. Default: 60. */
  maxRetryAfterSeconds?: number;
  /** Called before each of these waits. */
  onWait?: (seconds: number, status: number) => void;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Reads a whole answer. Default: `response.text()`. */
  text?: (response: Response) => Promise<string>;
  /** Default: `JSON.parse`. */
  parse?: (text: string) => unknown;
}

export type Method = 'get' | 'post' | 'put' | 'delete';

export interface RequestParts {
  query?: Readonly<Record<string, unknown>>;
  /** A Blob is sent as it is, everything else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface StreamWatch {
  /** Called once where a connection is lost. `cause` is undefined where the server ended it. */
  onLost?: (cause: unknown) => void;
  onBack?: () => void;
}

/** Throws HeadwaterProblem where the server refuses, and what `fetch` throws. */
export interface Transport {
  /** An answer of which nothing has been read. */
  open(method: Method, path: string, parts?: RequestParts): Promise<Response>;
  /** The `body` is undefined where the answer has none. */
  ask(method: Method, path: string, parts?: RequestParts): Promise<{ body: unknown; headers: Headers }>;
  /** Every entry of a list, page after page. */
  all(path: string, parts?: RequestParts): AsyncGenerator;
  /** Messages of a stream; it resumes behind the last one after a lost connection. */
  stream(path: string, parts?: RequestParts, watch?: StreamWatch): AsyncGenerator<StreamMessage>;
}

interface ListAnswer {
  data: unknown[];
  page_info?: { end_cursor: string | null };
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;

export function createTransport(options: TransportOptions): Transport {
  const { text = (response: Response) => response.text(), parse = JSON.parse } = options;
  const read = { text, parse };
  const open: Transport['open'] = (method, path, parts = {}) => request({ ...options, ...read }, method, path, parts);
  const ask: Transport['ask'] = async (method, path, parts) => {
    const response = await open(method, path, parts);
    const answer = await text(response);
    return { body: answer === '' ? undefined : parse(answer), headers: response.headers };
  };
  return {
    open,
    ask,
    async *all(path, parts = {}) {
      for (let after: string | undefined; ; ) {
        const query = { limit: 100, ...parts.query, ...(after === undefined ? {} : { after }) };
        const { data, page_info: info } = (await ask('get', path, { ...parts, query })).body as ListAnswer;
        const next = info?.end_cursor;
        // The same page again: the list is short and has no cursors.
        if (after !== undefined && next === after) return;
        yield* data;
        if (typeof next !== 'string') return;
        after = next;
      }
    },
    stream: (path, parts = {}, watch = {}) => follow(open, path, parts, watch),
  };
}

async function* follow(
  open: Transport['open'],
  path: string,
  parts: RequestParts,
  { onLost, onBack }: StreamWatch,
): AsyncGenerator<StreamMessage> {
  let lastId = parts.headers?.['last-event-id'];
  let isLost = false;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const resumed = lastId === undefined ? {} : { 'last-event-id': lastId };
    const headers = { ...parts.headers, accept: 'text/event-stream', ...resumed };
    let cause: unknown;
    try {
      const { status, headers: answered, body } = await open('get', path, { ...parts, headers });
      if (body === null || answered.get('content-type')?.startsWith('text/event-stream') !== true)
        throw new HeadwaterProblem(status, { detail: `The server does not stream ${path}` });
      if (isLost) onBack?.();
      isLost = false;
      for await (const message of readStream(body)) {
        if (message.id !== '') lastId = message.id;
        waitMs = FIRST_WAIT_MS;
        yield message;
      }
    } catch (error) {
      if (parts.signal?.aborted === true || isFinal(error)) throw error;
      cause = error;
    }
    if (!isLost) onLost?.(cause);
    isLost = true;
    // The clients of a server that starts again must not come back in step.
    await sleep(waitMs * (0.5 + Math.random() / 2), parts.signal);
  }
}

/** Asking again does not help. */
function isFinal(error: unknown): boolean {
  return error instanceof HeadwaterProblem && error.status < 500 && error.status !== 429;
}

type Options = TransportOptions & Required<Pick<TransportOptions, 'text' | 'parse'>>;

async function request(options: Options, method: Method, path: string, parts: RequestParts): Promise<Response> {
  const { query, body, headers, signal } = parts;
  const { url, apiKey, maxRetries = 3, maxRetryAfterSeconds = 60, onWait } = options;
  const send = options.fetch ?? fetch;
  const init = {
    method: method.toUpperCase(),
    headers: {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  for (let retries = 0; ; retries++) {
    const response = await send(url.replace(/\/$/, '') + path + queryOf(query), init);
    if (response.ok) return response;
    const problem = await problemOf(response, options);
    const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (!mayRepeat(method, problem) || !(waitSeconds <= maxRetryAfterSeconds) || retries >= maxRetries) throw problem;
    onWait?.(waitSeconds, response.status);
    await sleep(waitSeconds * 1_000, signal);
  }
}

/** Whether a refused request was surely not carried out, or may be carried out twice. */
function mayRepeat(method: Method, { status, code }: HeadwaterProblem): boolean {
  // The database may have stored what a POST asked for, and only its answer was lost.
  return status === 429 || (status === 503 && (method !== 'post' || code !== 'DATABASE_AWAY'));
}

async function problemOf(response: Response, { text, parse }: Options): Promise<HeadwaterProblem> {
  const answer = await text(response);
  try {
    return new HeadwaterProblem(response.status, parse(answer));
  } catch {
    // A proxy answered something else.
    return new HeadwaterProblem(response.status, undefined);
  }
}

function queryOf(query: Readonly<Record<string, unknown>> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) given.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
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
