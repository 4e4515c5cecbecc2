import type { DownloadBudget } from './download-budget.ts';
import { BuildLimitError, PackageError, PackagesUnavailableError } from './package-error.ts';
import { createWorkLimiter } from './limiter.ts';
import { isPackument, type Packument, readPackument } from './manifest.ts';
import { isIntact, type PackageCache } from './package-cache.ts';

export interface RegistryOptions {
  /** Ends with a slash. */
  url: string;
  cache: PackageCache;
  maxPackumentBytes: number;
  maxTarballBytes: number;
  budget: DownloadBudget;
  signal: AbortSignal;
}

/**
 * The registry as a build sees it; the cache answers first. Throws BuildLimitError when the budget
 * is spent. Throws PackagesUnavailableError if the registry fails, or its answer cannot be stored.
 */
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
/** Until an answer begins. */
const MAX_SILENCE_MS = 15_000;
const TOO_MANY_REQUESTS = 429;
const ACCEPT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8';

export function createPackageRegistry(options: RegistryOptions): Registry {
  const { cache, budget, maxPackumentBytes, maxTarballBytes } = options;
  const signal = AbortSignal.any([options.signal, budget.signal]);
  const limited = createWorkLimiter(MAX_REQUESTS);
  const known = new Map<string, Promise<Packument>>();
  const tarballs = new Map<string, Promise<void>>();
  const fetchBytes = (url: string, maxBytes: number): Promise<Buffer> =>
    limited(() => retrying(() => get(url, { maxBytes, budget, signal }), signal));

  async function findPackument(name: string): Promise<Packument> {
    const key = `${options.url}${name}`;
    const cached = await cache.readJson('packuments', key, isPackument);
    if (cached !== undefined) return cached;
    const bytes = await fetchBytes(options.url + name.replace('/', '%2f'), maxPackumentBytes);
    const packument = readPackument(parseJson(bytes));
    await cache.writeJson('packuments', key, packument);
    return packument;
  }

  async function obtainTarball(url: string, integrity: string): Promise<void> {
    const cached = await cache.readTarball(integrity);
    if (cached !== undefined && isIntact(cached, integrity)) return;
    const bytes = await fetchBytes(url, maxTarballBytes);
    if (!isIntact(bytes, integrity)) throw new PackageError('its checksum is not the one that the registry names');
    await cache.writeTarball(integrity, bytes);
  }

  return {
    packument(name) {
      const found = known.get(name) ?? findPackument(name);
      known.set(name, found);
      return found;
    },
    async fetchTarball(name, address, integrity) {
      const url = tarballUrl(options.url, name, address);
      // A package can stand at many places of a tree.
      const key = `${integrity} ${url}`;
      const found = tarballs.get(key) ?? obtainTarball(url, integrity);
      tarballs.set(key, found);
      return found;
    },
  };
}

/**
 * URL of a version, always at the configured registry. Mirrors may name another host; then the file
 * has the same name here.
 */
function tarballUrl(registry: string, name: string, address: string): string {
  if (!URL.canParse(address)) throw new PackageError('the registry names no address for it');
  const url = new URL(address);
  if (url.origin === new URL(registry).origin) return url.href;
  return `${registry}${name}/-/${url.pathname.split('/').at(-1) ?? ''}`;
}

async function retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || attempts === ATTEMPTS || !(error instanceof PackagesUnavailableError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempts));
    }
  }
}

interface DownloadBounds {
  /** Largest size of this answer. */
  maxBytes: number;
  budget: DownloadBudget;
  signal: AbortSignal;
}

async function get(url: string, bounds: DownloadBounds): Promise<Buffer> {
  const { signal } = bounds;
  try {
    return await download(url, bounds);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    if (signal.reason instanceof BuildLimitError) throw signal.reason;
    throw new PackageError('the registry did not answer before the time of this build was over', { cause });
  }
}

async function download(url: string, bounds: DownloadBounds): Promise<Buffer> {
  const response = await follow(url, bounds.signal);
  const { status } = response;
  if (status === 404) throw new PackageError('there is no such package in the registry');
  if (status >= 500 || status === TOO_MANY_REQUESTS)
    throw new PackagesUnavailableError(`the registry answered with status ${status}`);
  if (!response.ok || response.body === null) throw new PackageError(`the registry answered with status ${status}`);
  try {
    return await readBody(response.body, announcedBytes(response), bounds);
  } catch (cause) {
    if (cause instanceof PackageError || cause instanceof BuildLimitError) throw cause;
    throw new PackagesUnavailableError('the registry broke off its answer', { cause });
  } finally {
    // Ends a download that is no longer needed.
    await response.body.cancel().catch(() => undefined);
  }
}

/**
 * The announced size counts before the bytes arrive. Otherwise a build could start eight downloads
 * that exceed its budget.
 */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  announced: number,
  { maxBytes, budget }: DownloadBounds,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let taken = 0;
  let bytes = 0;
  const count = (atLeast: number): void => {
    if (atLeast > maxBytes) throw new PackageError(`it is larger than ${maxBytes} bytes`);
    budget.take(Math.max(0, atLeast - taken));
    taken = Math.max(taken, atLeast);
  };
  count(announced);
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    count(bytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function announcedBytes({ headers }: Response): number {
  const length = Number(headers.get('content-length'));
  return Number.isFinite(length) ? length : 0;
}

/**
 * Follows redirects within the registry, never to another origin. This process has the node's
 * network without a guard, and a package's publisher may control the target of a redirect.
 */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  for (let hops = 0, at = url; hops <= MAX_REDIRECTS; hops++) {
    const response = await ask(at, signal);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    if (!URL.canParse(location, at)) throw new PackageError('the registry redirects to an invalid URL');
    const next = new URL(location, at);
    if (next.origin !== new URL(url).origin)
      throw new PackageError('the registry redirects to another server, which is not followed');
    at = next.href;
  }
  throw new PackageError(`the registry redirects more than ${MAX_REDIRECTS} times`);
}

async function ask(url: string, signal: AbortSignal): Promise<Response> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS);
  try {
    const init = {
      signal: AbortSignal.any([signal, silence.signal]),
      redirect: 'manual',
      headers: { accept: ACCEPT },
    } as const;
    return await fetch(url, init);
  } catch (cause) {
    if (silence.signal.aborted)
      throw new PackagesUnavailableError(`the registry did not answer for ${MAX_SILENCE_MS / 1_000} s`, { cause });
    const reason = (cause as { cause?: { code?: string } }).cause?.code ?? 'no connection';
    throw new PackagesUnavailableError(`the registry cannot be reached (${reason})`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new PackagesUnavailableError('the registry answered with something that is not JSON', { cause });
  }
}
