import { type BodyState, cloneBody, GuestBody, readBody, requireUnused } from './body.ts';
import { freezeHeaders, GuestHeaders, headerPairs, type HeadersInput } from './headers.ts';
import { stringifyJson } from './intrinsics.ts';
import { asInterface, requireArguments, toByteString, toDictionary, toUsv } from './web-idl.ts';

export interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInput;
}

interface ResponseState {
  status: number;
  statusText: string;
  headers: GuestHeaders;
  type: string;
  url: string;
  redirected: boolean;
  body: BodyState | undefined;
}

export interface NetworkAnswer {
  status: number;
  statusText: string;
  headers: readonly [string, string][];
  url: string;
  redirected: boolean;
  body: BodyState | undefined;
}

const NULL_BODY = [101, 103, 204, 205, 304];
const REDIRECTS = [301, 302, 303, 307, 308];
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

let responseOf: (answer: NetworkAnswer) => GuestResponse;

/** `Response` of the Fetch standard. */
export class GuestResponse extends GuestBody {
  readonly #state: ResponseState;

  constructor(body?: unknown, init?: ResponseInit) {
    super();
    this.#state = readResponse(init);
    const read = readBody(body);
    if (read === undefined) return;
    if (NULL_BODY.includes(this.#state.status))
      throw new TypeError(`Response constructor: Invalid response status code ${this.#state.status}`);
    this.#state.body = read.state;
    const { headers } = this.#state;
    if (read.type !== undefined && !headers.has('content-type')) headers.append('content-type', read.type);
  }

  static {
    responseOf = (answer) => {
      const response = new GuestResponse();
      const headers = new GuestHeaders(answer.headers);
      freezeHeaders(headers);
      Object.assign(response.#state, answer, { headers, type: 'basic' });
      return response;
    };
  }

  static error(): GuestResponse {
    const response = new GuestResponse();
    freezeHeaders(response.#state.headers);
    Object.assign(response.#state, { type: 'error', status: 0 });
    return response;
  }

  static redirect(url: string, status = 302): GuestResponse {
    requireArguments(1, arguments.length, 'Response.redirect');
    const text = toUsv(url);
    if (!URL.canParse(text)) throw new TypeError(`Failed to parse URL from ${text}`);
    const target = new URL(text).href;
    if (!REDIRECTS.includes(status)) throw new RangeError(`Invalid status code ${status}`);
    const response = new GuestResponse(null, { status, headers: { location: target } });
    freezeHeaders(response.#state.headers);
    return response;
  }

  static json(data: unknown, init?: ResponseInit): GuestResponse {
    requireArguments(1, arguments.length, 'Response.json');
    const text = stringifyJson(data) as string | undefined;
    if (text === undefined) throw new TypeError('Value is not JSON serializable');
    const headers = new GuestHeaders(init?.headers);
    if (!headers.has('content-type')) headers.append('content-type', 'application/json');
    return new GuestResponse(text, { ...init, headers });
  }

  get type(): string {
    return this.#state.type;
  }
  get url(): string {
    return this.#state.url;
  }
  get redirected(): boolean {
    return this.#state.redirected;
  }
  get status(): number {
    return this.#state.status;
  }
  get ok(): boolean {
    return this.#state.status >= 200 && this.#state.status < 300;
  }
  get statusText(): string {
    return this.#state.statusText;
  }
  get headers(): GuestHeaders {
    return this.#state.headers;
  }

  clone(): GuestResponse {
    const { headers, body } = this.#state;
    requireUnused(body);
    const copy = new GuestResponse();
    Object.assign(copy.#state, this.#state, {
      headers: new GuestHeaders(headerPairs(headers)),
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
asInterface(GuestResponse, 'Response');

export function makeNetworkResponse(answer: NetworkAnswer): GuestResponse {
  return responseOf(answer);
}

function readResponse(init: unknown): ResponseState {
  const {
    status = 200,
    statusText = '',
    headers,
  } = toDictionary(init, () => new TypeError('The options of a Response must be an object'));
  const code = Math.trunc(Number(status)) & 0xffff;
  if (!(code >= 200 && code <= 599))
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
  const reason = toByteString(statusText, 'The status text');
  if (!REASON.test(reason)) throw new TypeError('Response: the status text has a character that it cannot have');
  return {
    status: code,
    statusText: reason,
    headers: new GuestHeaders(headers as HeadersInput),
    type: 'default',
    url: '',
    redirected: false,
    body: undefined,
  };
}
