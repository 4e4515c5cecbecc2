import type { SyncCalls } from './sync-calls.ts';

type AnyCall = (...args: unknown[]) => unknown;

/** Result of `fs/promises.open`. */
export class FileHandle {
  readonly #calls: SyncCalls;
  fd: number;

  constructor(calls: SyncCalls, fd: number) {
    this.#calls = calls;
    this.fd = fd;
  }

  async read(buffer: Uint8Array, ...rest: unknown[]): Promise<{ bytesRead: number; buffer: Uint8Array }> {
    return { bytesRead: this.#call('read', buffer, ...rest) as number, buffer };
  }

  async write(data: Uint8Array | string, ...rest: unknown[]): Promise<{ bytesWritten: number; buffer: unknown }> {
    return { bytesWritten: this.#call('write', data, ...rest) as number, buffer: data };
  }

  async readFile(options?: unknown): Promise<unknown> {
    return this.#call('readFile', options);
  }

  async writeFile(data: unknown, options?: unknown): Promise<void> {
    this.#call('writeFile', data, options);
  }

  async appendFile(data: unknown, options?: unknown): Promise<void> {
    this.#call('appendFile', data, options);
  }

  async stat(): Promise<unknown> {
    return this.#call('fstat');
  }

  async truncate(length?: number): Promise<void> {
    this.#call('ftruncate', length);
  }

  async sync(): Promise<void> {
    this.#call('fsync');
  }

  async close(): Promise<void> {
    if (this.fd < 0) return;
    this.#call('close');
    this.fd = -1;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #call(name: string, ...args: unknown[]): unknown {
    return (this.#calls[name] as AnyCall)(this.fd, ...args);
  }
}
