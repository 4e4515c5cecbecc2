import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';
import type { App, AppOptions } from '../app-options.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ApiContext } from '../environment.ts';
import { acceptedEncoding, encodeContent, type EncodedAnswer, encodeOnce } from '../content-encoding.ts';
import { createLine } from '../line.ts';
import { allMetrics } from '../metrics.ts';
import { openApiDocument } from '../openapi/document.ts';
import { answerWeb } from '../web/mount-web.ts';

const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Rate at which these answers go out, in bytes per millisecond. Any client may request some hundred
 * kilobytes without a key, as often as it likes.
 */
const BYTES_PER_MS = 16_384;

/** Making the figures' text takes the thread some milliseconds, and asks the database. */
const METRICS_EVERY_MS = 500;

/** With a database query for each /healthz request, any client could load the database. */
const READY_EVERY_MS = 50;

const PATHS = ['/', '/openapi.json', '/healthz', '/readyz', '/livez', '/metrics'] as const;

/** Patterns of the paths below, all of them for reading only. */
export function probeMethods(): [pattern: string, methods: string[]][] {
  return PATHS.map((path) => [`^${path.replace('.', '\\.')}$`, ['GET']]);
}

/** Endpoints about the server itself, which need no key. */
export function mountProbes(
  app: App,
  endpoints: readonly Endpoint[],
  options: AppOptions & Required<Pick<AppOptions, 'unread'>>,
): void {
  const { engine, metrics, publicUrl, unread } = options;
  /** Unread answers of all callers without a key count together. */
  const hold = (c: ApiContext, bytes: number) => {
    if (c.env.outgoing !== undefined) unread.hold('', c.env.outgoing, bytes);
  };
  const inLine = createLine();
  const at = (path: (typeof PATHS)[number], handle: (c: ApiContext) => Response | Promise<Response>) =>
    app.get(path, (c) => {
      c.set('route', path);
      return handle(c);
    });
  const answerPage = (c: ApiContext) => (options.probesOnly === true ? undefined : answerWeb(c, options.web));
  at(
    '/',
    (c) => answerPage(c) ?? c.json({ name: 'Headwater', api: `${publicUrl}/v1`, openapi: `${publicUrl}/openapi.json` }),
  );
  at('/openapi.json', documentHandler(endpoints, publicUrl, hold));
  const problems = createShared(READY_EVERY_MS, () => problemsOf(engine));
  const answerReadiness = async (c: ApiContext) => {
    if (options.isStopping?.() === true)
      return c.json({ status: 'stopping', problems: ['This node is stopping'] }, 503);
    const found = await problems();
    await inLine();
    const workers = workersOf(options);
    return found.length === 0
      ? c.json({ status: 'ok', ...workers })
      : c.json({ status: 'unavailable', problems: found, ...workers }, 503);
  };
  at('/readyz', answerReadiness);
  at('/healthz', answerReadiness);
  // Does not check the database: a restart of the node would not repair it.
  at('/livez', (c) => c.json({ status: 'ok' }));
  const readOwn = () => allMetrics(engine, metrics);
  const readAll = options.workers?.shareFigures(readOwn) ?? readOwn;
  const figures = createShared(METRICS_EVERY_MS, async () => new Figures(new TextEncoder().encode(await readAll())));
  const figuresTurn = createPace(LIMITS.maxRequestWaitMs);
  at('/metrics', async (c) => {
    const made = await figures();
    const zipped = /\bgzip\b/i.test(c.req.header('accept-encoding') ?? '');
    const bytes = zipped ? await made.zipped() : made.plain;
    // All waiting requests get the figures at the same moment, so their answers are paced.
    await figuresTurn(bytes.byteLength / BYTES_PER_MS);
    hold(c, bytes.byteLength);
    const headers = { 'content-type': METRICS_CONTENT_TYPE, vary: 'accept-encoding' };
    return c.body(bytes, 200, zipped ? { ...headers, 'content-encoding': 'gzip' } : headers);
  });
}

function workersOf({ workers }: AppOptions): { workers?: { wanted: number; up: number } } {
  if (workers === undefined) return {};
  const { wanted, up } = workers.status();
  return { workers: { wanted, up } };
}

function documentHandler(
  endpoints: readonly Endpoint[],
  publicUrl: string,
  hold: (c: ApiContext, bytes: number) => void,
): (c: ApiContext) => Promise<Response> {
  let documentAnswer: Promise<{ etag: string; encoded: EncodedAnswer }> | undefined;
  const documentTurn = createPace(LIMITS.maxRequestWaitMs);
  return async (c) => {
    // Kept as bytes: encoding a megabyte of text for each request takes milliseconds, and the path
    // needs no key.
    documentAnswer ??= openApiDocument(endpoints, publicUrl).then(describeOnce);
    const { etag, encoded } = await documentAnswer;
    const headers = { etag, vary: 'accept-encoding', 'cache-control': 'no-cache' };
    if (namesTag(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
    const encoding = acceptedEncoding(c.req.header('accept-encoding'));
    const bytes = await encoded.find(encoding);
    await documentTurn(bytes.byteLength / BYTES_PER_MS);
    hold(c, bytes.byteLength);
    return c.body(bytes, 200, {
      ...headers,
      'content-type': 'application/json',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    });
  };
}

function describeOnce(document: object): { etag: string; encoded: EncodedAnswer } {
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  // Weak: the same document comes in several encodings.
  return { etag: `W/"${hash}"`, encoded: encodeOnce(bytes) };
}

function namesTag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((one) => one.trim() === etag || one.trim() === '*');
}

/**
 * Metrics text, plain and compressed. Gzip reduces it to a tenth, so monitors that accept gzip wait
 * less.
 */
class Figures {
  readonly plain: Uint8Array<ArrayBuffer>;
  #zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(plain: Uint8Array<ArrayBuffer>) {
    this.plain = plain;
  }

  zipped(): Promise<Uint8Array<ArrayBuffer>> {
    this.#zipped ??= encodeContent(this.plain, 'gzip');
    return this.#zipped;
  }
}

/**
 * Resolves for one after the other, for each after what those before it take. Throws RATE_LIMITED
 * for one that would wait too long.
 */
function createPace(maxWaitMs: number): (takesMs: number) => Promise<void> {
  let nextAtMs = 0;
  return async (takesMs) => {
    const nowMs = performance.now();
    const waitMs = Math.max(0, nextAtMs - nowMs);
    if (waitMs > maxWaitMs) {
      const limit = platformLimit('maxRequestWaitMs', Math.ceil(waitMs));
      throw new HeadwaterError('RATE_LIMITED', 'Too many ask for this; try again later', { limit });
    }
    nextAtMs = nowMs + waitMs + takesMs;
    if (waitMs > 0) await sleep(waitMs);
  };
}

/**
 * Shares one result between waiting requests, made after they asked. The next one begins after the
 * last has ended, and at least `everyMs` after its start.
 */
function createShared<T>(everyMs: number, make: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let beganAtMs = -everyMs;
  let next: Promise<T> | undefined;

  async function makeNext(): Promise<T> {
    await last;
    const waitMs = beganAtMs + everyMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    beganAtMs = performance.now();
    next = undefined;
    const made = make();
    // Only the requests that asked for it see the failure.
    last = made.catch(() => undefined);
    return made;
  }

  return () => {
    next ??= makeNext();
    return next;
  };
}

/** A database that hangs is as bad as one that is gone. */
async function problemsOf(engine: AppOptions['engine']): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, LIMITS.readyCheckMs, [`The database has not answered for ${LIMITS.readyCheckMs} ms`]);
  });
  // A check that throws is a "no"; the engine has logged why.
  const word = engine.problems().catch(() => ['The database cannot be reached']);
  try {
    return await Promise.race([word, late]);
  } finally {
    clearTimeout(timer);
  }
}
