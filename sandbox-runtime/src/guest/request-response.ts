import type { GuestAbortSignal } from './abort.ts';
import { type BodyTools, GuestBody, readBody } from './body.ts';
import { GuestHeaders, type HeadersInput } from './headers.ts';
import { stringifyJson, toText } from './intrinsics.ts';

export interface RequestInit {
  method?: string;
  headers?: HeadersInput;
  body?: unknown;
  redirect?: 'follow' | 'error' | 'manual';
  signal?: GuestAbortSignal | null;
}

export interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInput;
}

/** What only the host's answer knows. */
export interface ResponseOrigin {
  url: string;
  redirected: boolean;
}

const NORMALISED = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;

export class GuestRequest extends GuestBody {
  readonly url: string;
  readonly method: string;
  readonly headers: GuestHeaders;
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly signal: GuestAbortSignal | undefined;

  constructor(tools: BodyTools, input: unknown, init: RequestInit = {}) {
    const base = input instanceof GuestRequest ? input : undefined;
    const body = init.body === undefined && base !== undefined ? keep(base.peek()) : readBody(tools, init.body);
    super(tools, body?.content);
    this.url = base?.url ?? readUrl(input);
    this.method = readMethod(init.method ?? base?.method ?? 'GET');
    if (body !== undefined && (this.method === 'GET' || this.method === 'HEAD')) {
      throw new TypeError(`A ${this.method} request cannot have a body`);
    }
    this.headers = new GuestHeaders(init.headers ?? base?.headers);
    this.redirect = readRedirect(init.redirect ?? base?.redirect ?? 'follow');
    this.signal = init.signal === null ? undefined : (init.signal ?? base?.signal);
    if (body?.type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', body.type);
  }

  protected override contentType(): string {
    return this.headers.get('content-type') ?? '';
  }
}

function keep(
  content: string | Uint8Array<ArrayBuffer> | undefined,
): { content: string | Uint8Array<ArrayBuffer>; type?: string } | undefined {
  return content === undefined ? undefined : { content };
}

function readUrl(input: unknown): string {
  const text = String(input);
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new TypeError(`fetch: '${text.slice(0, 200)}' is not a valid absolute URL`, { cause });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`fetch: ${url.protocol} URLs are not supported`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError('fetch: a URL with credentials is not supported; use a header');
  return url.href;
}

function readMethod(method: unknown): string {
  const text = String(method);
  if (!METHOD.test(text)) throw new TypeError(`fetch: '${text.slice(0, 64)}' is not a valid method`);
  const upper = text.toUpperCase();
  return NORMALISED.includes(upper) || upper === 'PATCH' ? upper : text;
}

function readRedirect(mode: unknown): 'follow' | 'error' | 'manual' {
  if (mode === 'follow' || mode === 'error' || mode === 'manual') return mode;
  throw new TypeError(`fetch: redirect must be 'follow', 'error' or 'manual'`);
}

export class GuestResponse extends GuestBody {
  readonly status: number;
  readonly statusText: string;
  readonly headers: GuestHeaders;
  readonly url: string;
  readonly redirected: boolean;
  readonly type: string;
  readonly #tools: BodyTools;

  constructor(tools: BodyTools, body: unknown, init: ResponseInit = {}, origin?: ResponseOrigin) {
    const read = readBody(tools, body);
    super(tools, read?.content);
    this.#tools = tools;
    this.status = readStatus(init.status ?? 200, origin !== undefined);
    this.statusText = toText(init.statusText ?? '');
    this.headers = new GuestHeaders(init.headers);
    this.url = origin?.url ?? '';
    this.redirected = origin?.redirected ?? false;
    this.type = origin === undefined ? 'default' : 'basic';
    if (read?.type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', read.type);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): GuestResponse {
    const { status, statusText, headers, url, redirected } = this;
    return new GuestResponse(this.#tools, this.peek(), { status, statusText, headers }, { url, redirected });
  }

  protected override contentType(): string {
    return this.headers.get('content-type') ?? '';
  }
}

function readStatus(status: unknown, fromHost: boolean): number {
  const code = Number(status);
  if (!fromHost && (!Number.isInteger(code) || code < 200 || code > 599))
    throw new RangeError('Response: status must be from 200 to 599');
  return code;
}

/** Request and Response as globals: bound to this guest's tools, with the names and statics of the standard. */
export function makeFetchClasses(tools: BodyTools): Record<'Request' | 'Response', unknown> {
  class Request extends GuestRequest {
    constructor(input: unknown, init?: RequestInit) {
      super(tools, input, init);
    }
  }
  class Response extends GuestResponse {
    constructor(body?: unknown, init?: ResponseInit) {
      super(tools, body, init);
    }

    static json(data: unknown, init: ResponseInit = {}): Response {
      const headers = new GuestHeaders(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(stringifyJson(data), { ...init, headers });
    }

    static error(): Response {
      return new Response(null, { status: 599 });
    }

    static redirect(url: string, status = 302): Response {
      return new Response(null, { status, headers: { location: toText(url) } });
    }
  }
  // What fetch answers is made by the base class, so `instanceof Response` looks at that one.
  Object.defineProperty(Response, Symbol.hasInstance, { value: (value: unknown) => value instanceof GuestResponse });
  Object.defineProperty(Request, Symbol.hasInstance, { value: (value: unknown) => value instanceof GuestRequest });
  return { Request, Response };
}
