import { openAsBlob } from 'node:fs';
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
  /**
   * Everything, page after page. Not of events: a page of them can be short, or empty, before the
   * last one.
   */
  all<T>(path: string, query?: Parameters): Promise<T[]>;
  /**
   * Everything that a list has, read as it comes: one record is in memory. A connection that breaks
   * is taken up again behind the last record.
   */
  lines<T>(path: string, query: Parameters, cursorOf: (record: T) => string): AsyncGenerator<T>;
  /** A resource with its `etag`, which the answer has in a header. */
  tagged<T>(path: string): Promise<T & { etag?: string }>;
  send<T>(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /** POSTs a file, however long that and the answer take. */
  upload<T>(path: string, file: string, headers: Readonly<Record<string, string>>): Promise<T>;
  /** An answer that goes on, of which nothing has been read; throws where it is refused. */
  open(path: string, query: Parameters, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
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
}

const TIMEOUT_MS = 180_000;
const PAGE_SIZE = 100;

export function createApiClient(options: ClientOptions): ApiClient {
  const { url, signal, timeoutMs = TIMEOUT_MS, proxy, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const lost = (cause: unknown) => (signal.aborted ? interrupted() : unreachableError(url, cause, proxy));
  const request = requesting(options, lost);
  const call = async <T>(
    method: string,
    path: string,
    init: RequestInit = {},
    room: Room = { bytes: maxAnswerBytes },
    onHeaders: (headers: Headers) => void = () => undefined,
  ): Promise<T> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const response = await request(
      method,
      path,
      { ...init, headers: { accept: 'application/json', ...(init.headers as Record<string, string>) } },
      within,
    );
    onHeaders(response.headers);
    return readAnswer<T>(response, options, room);
  };
  const list = <T>(path: string, query: Parameters, room?: Room) =>
    call<ListAnswer<T>>('GET', path + queryString(query), {}, room);
  const open = opening(request, options);
  return {
    url,
    get: async <T>(path: string, query: Parameters = {}) =>
      (await call<{ data: T }>('GET', path + queryString(query))).data,
    page: async <T>(path: string, query: Parameters = {}) => (await list<T>(path, query)).data,
    list: (path, query = {}) => list(path, query),
    all: <T>(path: string, query: Parameters = {}) =>
      readAll<T>((page, room) => list<T>(path, { limit: PAGE_SIZE, ...query, ...page }, room), maxAnswerBytes),
    lines: <T>(path: string, query: Parameters, cursorOf: (record: T) => string) =>
      readRecords<T>((after) => open(path, { ...query, after }, { accept: NDJSON_TYPE }, signal), { cursorOf, lost }),
    async tagged<T>(path: string) {
      let etag: string | undefined;
      const { data } = await call<{ data: T }>('GET', path, {}, undefined, (headers) => {
        etag = headers.get('etag')?.replaceAll('"', '');
      });
      return etag === undefined ? data : { ...data, etag };
    },
    async send<T>(
      method: 'POST' | 'PUT' | 'DELETE',
      path: string,
      body: unknown = {},
      headers: Readonly<Record<string, string>> = {},
    ) {
      const init = { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
      return (await call<{ data: T } | undefined>(method, path, init))?.data as T;
    },
    async upload<T>(path: string, file: string, headers: Readonly<Record<string, string>>) {
      const response = await request('POST', path, { headers, body: await openAsBlob(file) }, signal);
      return (await readAnswer<{ data: T }>(response, options, { bytes: maxAnswerBytes })).data;
    },
    open,
  };
}

type Request = (method: string, path: string, init: RequestInit, within: AbortSignal) => Promise<Response>;

function requesting({ url, apiKey }: ClientOptions, lost: (cause: unknown) => CliError): Request {
  return async (method, path, init, within) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) };
    try {
      // A redirect could lead the key elsewhere.
      return await fetch(`${url}/v1${path}`, { ...init, method, headers, redirect: 'manual', signal: within });
    } catch (cause) {
      throw lost(cause);
    }
  };
}

function opening(request: Request, options: ClientOptions): ApiClient['open'] {
  const room = { bytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES };
  return async (path, query, headers, within) => {
    const response = await request('GET', path + queryString(query), { headers }, within);
    return response.ok ? response : readAnswer<never>(response, options, { ...room });
  };
}

/** Page after page. */
async function readAll<T>(
  read: (page: Parameters, room: Room) => Promise<ListAnswer<T>>,
  maxAnswerBytes: number,
): Promise<T[]> {
  const items: T[] = [];
  const room: Room = { bytes: maxAnswerBytes * LIST_ANSWERS };
  let after: string | undefined;
  for (;;) {
    const { data, page_info: info } = await read({ after }, room);
    for (const item of data) items.push(item);
    if (typeof info?.end_cursor !== 'string' || data.length === 0) return items;
    // A page of large entries has fewer than were asked for; a count may stop below what there is.
    if (data.length < PAGE_SIZE && items.length >= info.total_count) return items;
    after = info.end_cursor;
  }
}

/** Bytes that may still be read; each answer reduces it. */
interface Room {
  bytes: number;
}

async function readAnswer<T>(response: Response, options: ClientOptions, room: Room): Promise<T> {
  const { url, signal, refusedHint, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  let text: string;
  try {
    const answer = await readText(response, Math.min(room.bytes, maxAnswerBytes));
    text = answer.text;
    room.bytes -= answer.bytes;
  } catch (cause) {
    if (cause instanceof TooLarge) throw notHeadwater(`${url} answers without end`);
    throw signal.aborted ? interrupted() : unreachableError(url, cause);
  }
  const body = parseJson(text);
  if (response.status >= 300) throw problemError(response.status, body, url, refusedHint);
  if (text === '') return undefined as T;
  if (typeof body === 'object' && body !== null) return body as T;
  throw notHeadwater(`${url} answered something that is not a Headwater server's`);
}

function notHeadwater(message: string): CliError {
  return new CliError('unreachable', message, { hint: 'Check the address: hw whoami shows which one is used' });
}

function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    // The caller says what that means.
    return undefined;
  }
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

function queryString(query: Parameters): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}
