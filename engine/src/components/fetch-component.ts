import type { ComponentFiles, FetchOutcome, FetchRequest, MissingFile } from '@headwater/sandbox-runtime';
import { type ExceededLimit, HeadwaterError, LIMITS } from '@headwater/shared';
import { followRedirect, type HopRequest } from '../egress/index.ts';

type Answer = Extract<FetchOutcome, { ok: true }>;

/** Fetches one response; stops reading a body at `maxBytes`. */
export type FetchCode = (request: FetchRequest, signal: AbortSignal, maxBytes: number) => Promise<FetchOutcome>;

const DEFAULT_FILE_NAME = 'component.mjs';
/** A chain of imports longer than this is given up. */
const MAX_ROUNDS = 20;

/**
 * Fetches a component from a URL, with the files that it imports by relative paths, directly or
 * through others. All come from one origin. File names are the URL paths below their common folder.
 * Throws INVALID_REQUEST with the file that could not be fetched.
 *
 * https only, except for this machine, which the egress guard must allow.
 */
export async function fetchComponent(
  fetchCode: FetchCode,
  listMissingFiles: (component: ComponentFiles) => Promise<MissingFile[]>,
  url: string,
): Promise<ComponentFiles> {
  const signal = AbortSignal.timeout(LIMITS.fetchComponentMs);
  const fetchNext = (from: URL) => fetchText(fetchCode, from, { signal, heldBytes: bytesOf(files) });
  // Any name may be one of a file, those of Object.prototype too.
  const files = Object.create(null) as Record<string, string>;
  const main = await fetchNext(checkUrl(url));
  if (main === undefined) throw refuse('There is no such file');
  const entry = pathOf(main.url);
  files[entry] = main.text;
  checkSize(bytesOf(files));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const missing = await listMissingFiles({ entry, files });
    if (missing.length === 0) return shorten({ entry, files });
    checkLimit('maxComponentFiles', Object.keys(files).length + missing.length, 'The component has', 'files');
    for (const { path, importer, candidates } of missing) {
      const found = await fetchFirst(fetchNext, { origin: main.url.origin, files }, candidates);
      if (found === undefined) throw refuse(`Cannot resolve "${path}", imported by ${importer}: there is no such file`);
      files[found.name] = found.text;
      checkSize(bytesOf(files));
    }
  }
  throw refuse(`The imports are more than ${MAX_ROUNDS} files deep`);
}

/** The name under which the code of one file is shown in stacks and errors. */
export function fileNameOf(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return DEFAULT_FILE_NAME;
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return /^[\w.-]{1,100}\.(m?[jt]s)$/.test(name) ? name : DEFAULT_FILE_NAME;
}

function checkUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refuse('Must be an http or https URL');
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw refuse('Must be an https URL: code fetched without TLS could have been replaced on its way');
  return url;
}

async function fetchFirst(
  fetchNext: (from: URL) => ReturnType<typeof fetchText>,
  { origin, files }: { origin: string; files: Readonly<Record<string, string>> },
  names: readonly string[],
): Promise<{ name: string; text: string } | undefined> {
  for (const name of names) {
    // Imported under two names, as `./a` and `./a.mjs`.
    const known = files[name];
    if (known !== undefined) return { name, text: known };
    const found = await fetchNext(new URL(`${origin}/${name}`));
    if (found === undefined) continue;
    if (found.url.origin !== origin) throw refuse(`${name} is on another origin, ${found.url.origin}`);
    return { name, text: found.text };
  }
  return undefined;
}

interface FetchState {
  signal: AbortSignal;
  /** Bytes of the files fetched so far. */
  heldBytes: number;
}

/** Undefined where the server has no such file. */
async function fetchText(
  fetchCode: FetchCode,
  url: URL,
  state: FetchState,
): Promise<{ url: URL; text: string } | undefined> {
  const outcome = await fetchFinal(fetchCode, url, state);
  if (outcome.status === 404) return undefined;
  if (outcome.status !== 200) throw refuse(`Answered with status ${outcome.status}`);
  checkSize(state.heldBytes + outcome.body.byteLength);
  return { url: checkUrl(outcome.url), text: Buffer.from(outcome.body).toString('utf8') };
}

/**
 * Follows redirects. Each target is checked here, because an attacker can forge a redirect over
 * plain HTTP. The body limit is that of all code: a 404 page may exceed the space that is left.
 */
async function fetchFinal(fetchCode: FetchCode, url: URL, { signal, heldBytes }: FetchState): Promise<Answer> {
  const { maxFetchRedirects: value, maxComponentCodeBytes: maxBytes } = LIMITS;
  let hop: HopRequest = { url, method: 'GET', headers: [], body: undefined };
  for (let redirects = 0; redirects <= value; redirects++) {
    const request: FetchRequest = { url: hop.url.href, method: 'GET', headers: [], redirect: 'manual' };
    const outcome = await fetchCode(request, signal, maxBytes);
    if (!outcome.ok) {
      const { limit } = outcome;
      if (limit?.name === 'maxFetchResponseBytes' && limit.value === maxBytes) checkSize(heldBytes + limit.used);
      throw refuse(outcome.message, limit);
    }
    const redirect = followRedirect(hop, outcome.status, outcome.headers.find(([name]) => name === 'location')?.[1]);
    if (redirect.kind === 'none') return outcome;
    if (redirect.kind === 'invalid') throw refuse(redirect.message, redirect.limit);
    checkUrl(redirect.request.url.href);
    hop = redirect.request;
  }
  throw refuse(`More than ${value} redirects`, { name: 'maxFetchRedirects', value, used: value + 1 });
}

function bytesOf(files: Readonly<Record<string, string>>): number {
  return Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function checkSize(bytes: number): void {
  checkLimit('maxComponentCodeBytes', bytes, 'The files have', 'bytes together');
}

function checkLimit(name: 'maxComponentFiles' | 'maxComponentCodeBytes', used: number, who: string, what: string) {
  const value = LIMITS[name];
  if (used > value) throw refuse(`${who} more than ${value} ${what}`, { name, value, used });
}

function pathOf(url: URL): string {
  return url.pathname.replace(/^\/+/, '') || DEFAULT_FILE_NAME;
}

function shorten({ entry, files }: ComponentFiles): ComponentFiles {
  const names = Object.keys(files);
  if (names.length === 1) {
    const name = fileNameOf(`https://host/${entry}`);
    return { entry: name, files: { [name]: files[entry] ?? '' } };
  }
  const [first = '', ...others] = names.map((name) => name.slice(0, name.lastIndexOf('/') + 1));
  let shared = first;
  while (!others.every((dir) => dir.startsWith(shared)))
    shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1);
  const short = (name: string): string => name.slice(shared.length);
  return { entry: short(entry), files: Object.fromEntries(names.map((name) => [short(name), files[name] ?? ''])) };
}

function refuse(message: string, limit?: ExceededLimit): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `component_url: ${message}`, {
    fields: [{ path: 'component_url', message }],
    ...(limit === undefined ? {} : { limit }),
  });
}
