import { Duplex } from '../stream.ts';

/**
 * Stands in for the socket of a request and carries no bytes. Packages set timeouts on sockets, or
 * read their addresses.
 */
export class RequestSocket extends Duplex {
  readonly encrypted: boolean;
  readonly authorized: boolean;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteFamily = 'IPv4';
  readonly localAddress = '127.0.0.1';
  readonly localPort = 0;
  readonly alpnProtocol = 'http/1.1';
  connecting = true;
  bytesRead = 0;
  bytesWritten = 0;
  timeout: number | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(host: string, port: number, encrypted: boolean) {
    super({ emitClose: true, autoDestroy: false });
    this.remoteAddress = host;
    this.remotePort = port;
    this.encrypted = encrypted;
    this.authorized = encrypted;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, callback: () => void): void {
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#idle);
    callback(error);
  }

  setTimeout(timeoutMs: number, callback?: () => void): this {
    clearTimeout(this.#idle);
    this.timeout = timeoutMs;
    if (callback !== undefined) this.once('timeout', callback);
    if (timeoutMs > 0) this.#idle = setTimeout(() => this.emit('timeout'), timeoutMs).unref();
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  address(): object {
    return { address: this.localAddress, family: this.remoteFamily, port: this.localPort };
  }
  getPeerCertificate(): object {
    return {};
  }
  getCipher(): object {
    return {};
  }
  getProtocol(): string {
    return 'TLSv1.3';
  }
  getSession(): undefined {
    return undefined;
  }
  isSessionReused(): boolean {
    return false;
  }
}
