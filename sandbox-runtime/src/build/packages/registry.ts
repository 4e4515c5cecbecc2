import { createHash } from 'node:crypto';
import { PackageError } from './build-order.ts';
import { readPackument, type Packument } from './manifest.ts';
import type { PackageCache } from './package-cache.ts';

export interface RegistryOptions {
  /** Ends with a slash. */
  url: string;
  cache: PackageCache;
  maxPackumentBytes: number;
  maxTarballBytes: number;
  signal: AbortSignal;
}

/** The registry as a build sees it: what is in the cache is not asked for. */
export interface Registry {
  /** Throws PackageError where there is no such package. */
  packument(name: string): Promise<Packument>;
  /** The bytes of a version, checked against `integrity`. */
  tarball(name: string, address: string, integrity: string): Promise<Buffer>;
}

const MAX_REQUESTS = 8;
const ATTEMPTS = 3;
const RETRY_MS = 300;
const ACCEPT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8';

export function createRegistry(options: RegistryOptions): Registry {
  const { cache, signal, maxPackumentBytes, maxTarballBytes } = options;
  const limited = createLimiter(MAX_REQUESTS);
  const known = new Map<string, Promise<Packument>>();
  const fetchBytes = (url: string, maxBytes: number): Promise<Buffer> =>
    limited(() => retrying(() => get(url, maxBytes, signal), signal));

  async function findPackument(name: string): Promise<Packument> {
    const key = `${options.url}${name}`;
    const cached = await cache.readJson('packuments', key);
    if (cached !== undefined) return cached as Packument;
    const bytes = await fetchBytes(options.url + name.replace('/', '%2f'), maxPackumentBytes);
    const packument = readPackument(parseJson(bytes));
    await cache.writeJson('packuments', key, packument);
    return packument;
  }

  return {
    packument(name) {
      const found = known.get(name) ?? findPackument(name);
      known.set(name, found);
      return found;
    },
    async tarball(name, address, integrity) {
      const cached = await cache.readTarball(integrity);
      if (cached !== undefined && isIntact(cached, integrity)) return cached;
      const bytes = await fetchBytes(tarballUrl(options.url, name, address), maxTarballBytes);
      if (!isIntact(bytes, integrity)) throw new PackageError('its checksum is not the one that the registry names');
      await cache.writeTarball(integrity, bytes);
      return bytes;
    },
  };
}

/**
 * Where a version is fetched: at the registry and nowhere else. An address on another host, as mirrors pass it on, stands for
 * the same file here.
 */
function tarballUrl(registry: string, name: string, address: string): string {
  if (!URL.canParse(address)) throw new PackageError('the registry names no address for it');
  const url = new URL(address);
  if (url.origin === new URL(registry).origin) return url.href;
  return `${registry}${name}/-/${url.pathname.split('/').at(-1) ?? ''}`;
}

function isIntact(bytes: Buffer, integrity: string): boolean {
  const dash = integrity.indexOf('-');
  const hash = createHash(integrity.slice(0, dash)).update(bytes).digest('base64');
  return hash === integrity.slice(dash + 1);
}

class HttpError extends PackageError {
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

async function retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || attempts === ATTEMPTS || !(error instanceof HttpError) || !error.mayPass) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempts));
    }
  }
}

async function get(url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  try {
    return await download(url, maxBytes, signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new PackageError('the registry did not answer before the time of this build was over', { cause });
  }
}

async function download(url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal, headers: { accept: ACCEPT } }).catch((cause: unknown) => {
    const reason = (cause as { cause?: { code?: string } }).cause?.code ?? 'no connection';
    throw new HttpError(`the registry cannot be reached (${reason})`, true);
  });
  if (response.status === 404) throw new HttpError('there is no such package in the registry', false);
  if (!response.ok || response.body === null)
    throw new HttpError(`the registry answered with status ${response.status}`, response.status >= 500);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new PackageError(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new PackageError('the registry answered with something that is not JSON');
  }
}

/** Lets at most `max` calls be under way; the others wait their turn. */
export function createLimiter(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
