import { PackageError } from './package-error.ts';
import { createLimiter } from './limiter.ts';
import { readPackument, type Packument } from './manifest.ts';
import { isIntact, type PackageCache } from './package-cache.ts';

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
  /** Sees to it that a version is in the cache, checked against `integrity`. */
  fetchTarball(name: string, address: string, integrity: string): Promise<void>;
}

const MAX_REQUESTS = 8;
const ATTEMPTS = 3;
const RETRY_MS = 300;
const MAX_REDIRECTS = 3;
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
    async fetchTarball(name, address, integrity) {
      const cached = await cache.readTarball(integrity);
      if (cached !== undefined && isIntact(cached, integrity)) return;
      const bytes = await fetchBytes(tarballUrl(options.url, name, address), maxTarballBytes);
      if (!isIntact(bytes, integrity)) throw new PackageError('its checksum is not the one that the registry names');
      await cache.writeTarball(integrity, bytes);
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
  const response = await follow(url, signal);
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

/**
 * Follows redirects within the registry. Another origin is never asked: this process has the node's network and no guard in
 * front of it, and what a registry redirects to can be the doing of whoever published a package.
 */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  for (let hops = 0, at = url; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(at, { signal, redirect: 'manual', headers: { accept: ACCEPT } }).catch(noConnection);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    if (!URL.canParse(location, at)) throw new HttpError('the registry redirects to something that is no URL', false);
    const next = new URL(location, at);
    if (next.origin !== new URL(url).origin)
      throw new HttpError('the registry redirects to another server, which is not followed', false);
    at = next.href;
  }
  throw new HttpError(`the registry redirects more than ${MAX_REDIRECTS} times`, false);
}

function noConnection(cause: unknown): never {
  const reason = (cause as { cause?: { code?: string } }).cause?.code ?? 'no connection';
  throw new HttpError(`the registry cannot be reached (${reason})`, true);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new PackageError('the registry answered with something that is not JSON');
  }
}
