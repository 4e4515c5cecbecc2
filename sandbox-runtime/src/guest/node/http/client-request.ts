import { limitError } from '../../limit-error.ts';
import { type NetworkFailure, requestFailure } from '../../network-error.ts';
import type { RawRequests } from '../../raw-requests.ts';
import { requireTimeout } from '../checks.ts';
import { AbortError, type CodedError, codedError, nativeError, requireString } from '../errors.ts';
import { Writable } from '../stream.ts';
import { Agent } from './agent.ts';
import { checkHeaderName, checkHeaderValue } from './header-rules.ts';
import { IncomingMessage } from './incoming-message.ts';
import { readRequestArguments, readTarget, type RequestOptions, type Target, urlOf } from './request-options.ts';
import { RequestSocket } from './socket.ts';

type HeaderValue = string | number | readonly string[];

export class OutgoingMessage extends Writable {}

/**
 * `http.ClientRequest`. The body is collected and sent whole, once it is complete; the response
 * arrives whole and is read as a stream. The request is made by the node, behind its guard, and
 * redirects are left to the caller.
 */
export class ClientRequest extends OutgoingMessage {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly protocol: string;
  readonly agent: unknown;
  readonly timeout: number | undefined;
  readonly reusedSocket = false;
  readonly maxHeadersCount = null;
  readonly shouldKeepAlive = true;
  chunkedEncoding = false;
  finished = false;
  aborted = false;
  res: IncomingMessage | undefined;
  socket: RequestSocket;
  #headersSent = false;
  readonly #requests: RawRequests;
  readonly #target: Target;
  readonly #headers = new Map<string, { name: string; value: HeaderValue }>();
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #abort: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(requests: RawRequests, defaultProtocol: 'http:' | 'https:', args: readonly unknown[]) {
    super({ autoDestroy: false, decodeStrings: true });
    const { options, callback } = readRequestArguments(args);
    this.#requests = requests;
    this.#target = readTarget(options, defaultProtocol);
    const { method, path, host, protocol, port } = this.#target;
    this.method = method;
    this.path = path;
    this.host = host;
    this.protocol = protocol;
    this.agent = options.agent;
    this.timeout = options.timeout ?? (options.agent instanceof Agent ? options.agent.options.timeout : undefined);
    this.socket = new RequestSocket(host, port, protocol === 'https:');
    // Errors of the socket are errors of the request, which reports them itself.
    this.socket.on('error', () => undefined);
    this.#readHeaders(options);
    if (typeof callback === 'function') this.once('response', callback as () => void);
    if (options.signal !== undefined) this.#follow(options.signal);
    process.nextTick(() => this.#announceSocket());
  }

  get connection(): RequestSocket {
    return this.socket;
  }

  get headersSent(): boolean {
    return this.#headersSent;
  }

  setHeader(name: string, value: HeaderValue): this {
    if (this.#headersSent)
      throw codedError('ERR_HTTP_HEADERS_SENT', 'Cannot set headers after they are sent to the client');
    checkHeaderName(name);
    checkHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), { name, value });
    return this;
  }

  appendHeader(name: string, value: string): this {
    const before = this.getHeader(name);
    return this.setHeader(name, before === undefined ? value : [...[before].flat().map(String), value]);
  }

  getHeader(name: string): HeaderValue | undefined {
    requireString('name', name);
    return this.#headers.get(name.toLowerCase())?.value;
  }

  hasHeader(name: string): boolean {
    requireString('name', name);
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    requireString('name', name);
    this.#headers.delete(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    const headers = Object.create(null) as Record<string, HeaderValue>;
    for (const [name, { value }] of this.#headers) headers[name] = value;
    return headers;
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  getRawHeaderNames(): string[] {
    return [...this.#headers.values()].map(({ name }) => name);
  }

  flushHeaders(): void {}
  setNoDelay(): void {}
  setSocketKeepAlive(): void {}
  override cork(): void {}
  override uncork(): void {}

  setTimeout(timeoutMs: number, callback?: () => void): this {
    requireTimeout('msecs', timeoutMs);
    clearTimeout(this.#timer);
    if (callback !== undefined) this.once('timeout', callback);
    if (timeoutMs > 0) this.#timer = setTimeout(() => this.emit('timeout'), timeoutMs).unref();
    return this;
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    process.nextTick(() => this.emit('abort'));
    this.destroy();
  }

  override end(...args: unknown[]): this {
    this.finished = true;
    return super.end(...(args as []));
  }

  override _write(chunk: Uint8Array, _encoding: string, callback: (error?: Error | null) => void): void {
    this.#bytes += chunk.length;
    const { maxBodyBytes } = this.#requests;
    if (this.#bytes > maxBodyBytes) {
      const limit = { name: 'maxFetchRequestBytes', value: maxBodyBytes, used: this.#bytes } as const;
      const error = limitError(limit, 'ERR_HTTP_BODY_TOO_LARGE');
      this.destroy(error);
      return callback(error);
    }
    this.#chunks.push(chunk.slice());
    // With the announced length the request is complete, even if `end` is never called. So it is
    // sent now.
    if (this.#bytes === Number(this.getHeader('content-length'))) this.#send();
    callback();
  }

  override _final(callback: (error?: Error | null) => void): void {
    callback();
    if (!this.destroyed) this.#send();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#abort?.();
    this.socket.destroy();
    if (this.res !== undefined && !this.res.readableEnded) this.res.destroy(error ?? undefined);
    const answered = this.res !== undefined;
    callback(error ?? (answered ? null : hangUp()));
  }

  #readHeaders(options: RequestOptions): void {
    const { headers = {}, auth } = options;
    if (Array.isArray(headers)) {
      const list = (headers as unknown[]).flat() as string[];
      for (let i = 0; i + 1 < list.length; i += 2) this.appendHeader(list[i] as string, list[i + 1] as string);
    } else for (const [name, value] of Object.entries(headers)) this.setHeader(name, value as HeaderValue);
    if (typeof auth === 'string' && !this.hasHeader('authorization'))
      this.setHeader('Authorization', `Basic ${Buffer.from(auth).toString('base64')}`);
    if (!this.hasHeader('host') && options.setHost !== false) {
      const { host, port, protocol } = this.#target;
      this.setHeader('Host', port === (protocol === 'https:' ? 443 : 80) ? host : `${host}:${port}`);
    }
  }

  #follow(signal: AbortSignal): void {
    const abort = (): void => void this.destroy(new AbortError(undefined, { cause: signal.reason }));
    if (signal.aborted) process.nextTick(abort);
    else signal.addEventListener('abort', abort, { once: true });
  }

  /**
   * The steps of a connection, as packages that measure them expect: nothing has to be waited for
   * here.
   */
  #announceSocket(): void {
    if (this.destroyed) return;
    this.emit('socket', this.socket);
    if (this.timeout !== undefined) this.setTimeout(this.timeout);
    const { remoteAddress, encrypted } = this.socket;
    this.socket.connecting = false;
    this.socket.emit('lookup', null, remoteAddress, 4, remoteAddress);
    this.socket.emit('connect');
    if (encrypted) this.socket.emit('secureConnect');
    this.socket.emit('ready');
  }

  #send(): void {
    if (this.#headersSent) return;
    this.#headersSent = true;
    const headers = [...this.#headers.values()].flatMap(({ name, value }) => {
      const values = name.toLowerCase() === 'host' ? [] : [value].flat();
      return values.map((item): [string, string] => [name, String(item)]);
    });
    // A response without Content-Length has no end on a socket that is kept; the node decides how
    // to send the body.
    const body = this.#bytes === 0 ? undefined : Buffer.concat(this.#chunks);
    try {
      this.#abort = this.#requests.send(
        { url: urlOf(this.#target), method: this.method, headers, body },
        {
          answered: (head, content) => this.#answered(head, content),
          failed: (failure) => this.#failed(failure),
        },
      );
    } catch (error) {
      this.destroy(error as Error);
    }
    this.#chunks.length = 0;
  }

  #answered(...[head, body]: Parameters<IncomingMessage['answer']>): void {
    this.#abort = undefined;
    if (this.destroyed) return;
    this.socket.setTimeout(0);
    clearTimeout(this.#timer);
    const response = new IncomingMessage(this.socket);
    response.req = this;
    response.answer(head, this.method === 'HEAD' ? new Uint8Array(0) : body);
    this.res = response;
    response.once('close', () => this.#close());
    // Without a listener the answer is discarded, as in Node.
    if (!this.emit('response', response)) response.resume();
  }

  #close(): void {
    if (this.destroyed) return;
    this.destroy();
  }

  #failed(failure: NetworkFailure): void {
    this.#abort = undefined;
    this.destroy(requestFailure(failure, this.#target));
  }
}

function hangUp(): CodedError {
  return nativeError('ECONNRESET', 'socket hang up');
}
