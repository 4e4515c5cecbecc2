import { toText } from '../intrinsics.ts';
import { systemError } from '../network-error.ts';
import { requirePort } from './checks.ts';
import { codedError, invalidArgument } from './errors.ts';
import { Duplex } from './stream.ts';

/** A socket that never connects. It emits the reason as an error, as Node does. */
export class RefusedSocket extends Duplex {
  connecting = false;
  readonly #reason: string;

  constructor(reason: string) {
    super();
    this.#reason = reason;
  }

  connect(...args: unknown[]): this {
    const { host, port } = readPeer(args);
    this.connecting = true;
    process.nextTick(() => this.destroy(systemError('ECONNREFUSED', this.#reason, { host, port })));
    return this;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, callback: (error?: Error | null) => void): void {
    // It waits for the connection, and ends with it.
    this.once('close', () => callback());
  }

  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

function readPeer([first, second]: unknown[]): { host: string; port: number } {
  const options = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : { port: first };
  const { port, path } = options;
  if (port === undefined && path === undefined)
    throw codedError('ERR_MISSING_ARGS', 'The "options" or "port" or "path" argument must be specified');
  const host = options['host'] ?? (typeof second === 'string' ? second : 'localhost');
  if (path !== undefined) return { host: toText(path), port: 0 };
  // A text alone that is no number is the path of a socket.
  if (typeof first === 'string' && !/^\s*\d+\s*$/.test(first)) return { host: first, port: 0 };
  const number = requirePort(port);
  if (typeof host !== 'string') throw invalidArgument('options.host', 'of type string', host);
  return { host, port: number };
}
