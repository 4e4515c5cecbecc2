import { followSignal, GuestAbortSignal } from './abort.ts';
import { type BodyState, cloneBody, GuestBody, readBody, requireUnused, takeBody } from './body.ts';
import { GuestHeaders, headerPairs, type HeadersInput } from './headers.ts';
import { toText } from './intrinsics.ts';
import { asInterface, requireArguments, toByteString, toDictionary, toUsv } from './web-idl.ts';

export interface RequestInit {
  method?: string;
  headers?: HeadersInput;
  body?: unknown;
  redirect?: 'follow' | 'error' | 'manual';
  signal?: GuestAbortSignal | null;
  duplex?: 'half';
}

const NORMALISED = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'];
const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK'];
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Members that have no meaning here: kept and checked, because clients set and read them. The first
 * value is the default.
 */
const SETTINGS = {
  mode: ['cors', 'same-origin', 'no-cors'],
  credentials: ['same-origin', 'omit', 'include'],
  cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
  redirect: ['follow', 'error', 'manual'],
  referrerPolicy: [
    '',
    'no-referrer',
    'no-referrer-when-downgrade',
    'same-origin',
    'origin',
    'strict-origin',
    'origin-when-cross-origin',
    'strict-origin-when-cross-origin',
    'unsafe-url',
  ],
} as const;

type SettingName = keyof typeof SETTINGS;

interface RequestState {
  url: string;
  method: string;
  headers: GuestHeaders;
  signal: GuestAbortSignal;
  settings: Record<SettingName, string>;
  referrer: string;
  integrity: string;
  keepalive: boolean;
  body: BodyState | undefined;
}

let requestState: (request: GuestRequest) => RequestState;

/** `Request` of the Fetch standard. Relative URLs are refused: there is no page to resolve them. */
export class GuestRequest extends GuestBody {
  readonly #state: RequestState;

  constructor(input: unknown, init?: RequestInit) {
    requireArguments(1, arguments.length, 'Request constructor');
    super();
    this.#state = readRequest(input, init);
  }

  static {
    requestState = (request) => request.#state;
  }

  get method(): string {
    return this.#state.method;
  }
  get url(): string {
    return this.#state.url;
  }
  get headers(): GuestHeaders {
    return this.#state.headers;
  }
  get destination(): string {
    return '';
  }
  get referrer(): string {
    return this.#state.referrer;
  }
  get referrerPolicy(): string {
    return this.#state.settings.referrerPolicy;
  }
  get mode(): string {
    return this.#state.settings.mode;
  }
  get credentials(): string {
    return this.#state.settings.credentials;
  }
  get cache(): string {
    return this.#state.settings.cache;
  }
  get redirect(): string {
    return this.#state.settings.redirect;
  }
  get integrity(): string {
    return this.#state.integrity;
  }
  get keepalive(): boolean {
    return this.#state.keepalive;
  }
  get isReloadNavigation(): boolean {
    return false;
  }
  get isHistoryNavigation(): boolean {
    return false;
  }
  get signal(): GuestAbortSignal {
    return this.#state.signal;
  }
  get duplex(): string {
    return 'half';
  }

  clone(): GuestRequest {
    requireUnused(this.#state.body);
    const copy = new GuestRequest(this.#state.url);
    const { headers, signal, body } = this.#state;
    Object.assign(copy.#state, this.#state, {
      headers: new GuestHeaders(headerPairs(headers)),
      signal: followSignal(signal),
      body: cloneBody(body),
    });
    return copy;
  }

  protected override bodyState(): BodyState | undefined {
    return this.#state.body;
  }

  protected override contentType(): string {
    return this.#state.headers.get('content-type') ?? '';
  }
}
asInterface(GuestRequest, 'Request');

/** The body of a request, for sending it. */
export function requestBody(request: GuestRequest): BodyState | undefined {
  return requestState(request).body;
}

function readRequest(input: unknown, init: unknown): RequestState {
  const base = input instanceof GuestRequest ? requestState(input) : undefined;
  const given = toDictionary(init, () => new TypeError('The options of a Request must be an object'));
  if (given['window'] !== undefined && given['window'] !== null)
    throw new TypeError('Request: window can only be null');
  if (given['duplex'] !== undefined && given['duplex'] !== 'half')
    throw new TypeError(`Request: duplex can only be 'half'`);
  const url = base?.url ?? readUrl(input);
  const settings = readSettings(given, base);
  const method = readMethod(given['method'] ?? base?.method ?? 'GET');
  const signal = given['signal'] === undefined ? base?.signal : readSignal(given['signal']);
  const headers = new GuestHeaders((given['headers'] as HeadersInput) ?? copyHeaders(base));
  const bodyGiven = given['body'] !== undefined && given['body'] !== null;
  const hasBody = bodyGiven || base?.body !== undefined;
  if (hasBody && (method === 'GET' || method === 'HEAD'))
    throw new TypeError('Request with GET/HEAD method cannot have body.');
  const read = bodyGiven ? readBody(given['body']) : undefined;
  if (read?.state.source === undefined && read !== undefined && given['duplex'] === undefined)
    throw new TypeError('RequestInit: duplex option is required when sending a body.');
  if (read?.type !== undefined && !headers.has('content-type')) headers.append('content-type', read.type);
  return {
    url,
    method,
    headers,
    signal: followSignal(signal),
    settings,
    referrer: readReferrer(given['referrer'] ?? base?.referrer),
    integrity: toText(given['integrity'] ?? base?.integrity ?? ''),
    keepalive: Boolean(given['keepalive'] ?? base?.keepalive),
    body: read === undefined ? takeBody(base?.body) : read.state,
  };
}

function copyHeaders(base: RequestState | undefined): [string, string][] {
  return base === undefined ? [] : headerPairs(base.headers);
}

function readSettings(given: Record<string, unknown>, base: RequestState | undefined): Record<SettingName, string> {
  const settings = {} as Record<SettingName, string>;
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const allowed: readonly string[] = SETTINGS[name];
    const value = given[name] === undefined ? undefined : toText(given[name]);
    if (value !== undefined && !allowed.includes(value))
      throw new TypeError(`Request: ${name} cannot be '${value.slice(0, 100)}'`);
    settings[name] = value ?? base?.settings[name] ?? allowed[0] ?? '';
  }
  if (settings.cache === 'only-if-cached' && settings.mode !== 'same-origin')
    throw new TypeError(`Request: cache 'only-if-cached' needs mode 'same-origin'`);
  return settings;
}

function readUrl(input: unknown): string {
  const text = toUsv(input);
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${text.slice(0, 200)}`, { cause });
  }
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${text.slice(0, 200)}`);
  return url.href;
}

function readMethod(method: unknown): string {
  const text = toByteString(method, 'The method');
  const upper = text.toUpperCase();
  if (!METHOD.test(text)) throw new TypeError(`'${text.slice(0, 64)}' is not a valid HTTP method.`);
  if (FORBIDDEN.includes(upper)) throw new TypeError(`'${upper}' HTTP method is unsupported.`);
  return NORMALISED.includes(upper) ? upper : text;
}

function readSignal(signal: unknown): GuestAbortSignal | undefined {
  if (signal === null) return undefined;
  if (!(signal instanceof GuestAbortSignal)) throw new TypeError('Request: signal must be an AbortSignal');
  return signal;
}

function readReferrer(referrer: unknown): string {
  if (referrer === undefined) return 'about:client';
  const text = toText(referrer);
  if (text === '' || text === 'about:client') return text;
  return new URL(text).href;
}
