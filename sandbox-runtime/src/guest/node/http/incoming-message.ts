import type { ResponseHead } from '../../raw-requests.ts';
import { Readable } from '../stream.ts';
import { joinHeaders } from './header-rules.ts';
import type { RequestSocket } from './socket.ts';

const CHUNK_BYTES = 64 * 1024;

/** A response: its body is here already and comes in pieces, as it would from a socket. */
export class IncomingMessage extends Readable {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  complete = false;
  aborted = false;
  url = '';
  readonly method = null;
  statusCode: number | undefined;
  statusMessage: string | undefined;
  headers: Record<string, string | string[]> = {};
  rawHeaders: string[] = [];
  readonly trailers = {};
  readonly rawTrailers: string[] = [];
  socket: RequestSocket;
  /** The request that this answers; follow-redirects and others look for it. */
  req: unknown;
  #body = new Uint8Array(0);
  #at = 0;

  constructor(socket: RequestSocket) {
    super({ highWaterMark: CHUNK_BYTES });
    this.socket = socket;
  }

  get connection(): RequestSocket {
    return this.socket;
  }

  get headersDistinct(): Record<string, string[]> {
    const distinct: Record<string, string[]> = {};
    for (const [name, value] of Object.entries(this.headers)) distinct[name] = Array.isArray(value) ? value : [value];
    return distinct;
  }

  answer({ status, statusText, headers }: ResponseHead, body: Uint8Array<ArrayBuffer>): void {
    this.statusCode = status;
    this.statusMessage = statusText;
    // The body is whole: what says how it was cut into pieces on the way would make clients look
    // for the pieces.
    const kept = headers.filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
    this.headers = joinHeaders(kept);
    this.rawHeaders = kept.flat();
    this.#body = body;
  }

  /**
   * Gives one piece at a time, each in its own turn: a reader that reads until empty gets the
   * arrived pieces, not the whole body.
   */
  override _read(): void {
    process.nextTick(() => this.#give());
  }

  #give(): void {
    if (this.destroyed) return;
    const end = Math.min(this.#at + CHUNK_BYTES, this.#body.length);
    const chunk = Buffer.from(this.#body.buffer, this.#body.byteOffset + this.#at, end - this.#at);
    this.#at = end;
    const isLast = end === this.#body.length;
    if (chunk.length > 0) this.push(chunk);
    if (!isLast) return;
    this.complete = true;
    this.push(null);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.readableEnded) {
      this.aborted = true;
      this.emit('aborted');
    }
    this.#body = new Uint8Array(0);
    callback(error);
  }

  setTimeout(timeoutMs: number, callback?: () => void): this {
    if (callback !== undefined) this.on('timeout', callback);
    this.socket.setTimeout(timeoutMs, () => this.emit('timeout'));
    return this;
  }
}
