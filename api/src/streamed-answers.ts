import type { Engine, Page, Principal } from '@headwater/engine';
import { LIMITS, NDJSON_TYPE } from '@headwater/shared';
import { NOBODY } from './caller.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import type { ApiContext } from './environment.ts';
import { eventStream } from './event-stream.ts';
import { lineStream, type OpenExports } from './export-lines.ts';
import { requireScope } from './key-scope.ts';
import type { Log } from './log.ts';
import { type CountChars, type QueryTurns, uncounted } from './query-turns.ts';
import { charsIn } from './raw-json.ts';

interface StreamOptions {
  engine: Engine;
  queries: QueryTurns;
  exports: OpenExports;
  log: Log;
}

/**
 * Whether what began with this key or session may go on. A session that names no account is one of
 * another account once its member has left this one, and a role may change.
 */
export async function isStillAdmitted(
  engine: Engine,
  apiKey: string,
  { endpoint, who, id }: { endpoint: Endpoint; who: Principal; id: string },
): Promise<boolean> {
  const now = await engine.accounts.authenticate(apiKey);
  if (now === undefined || now.accountId !== who.accountId) return false;
  try {
    requireScope(now, endpoint, id);
    return true;
  } catch {
    return false;
  }
}

export function sendMessages(
  c: ApiContext,
  reply: Reply,
  isAdmitted: () => Promise<boolean>,
  { log }: Pick<StreamOptions, 'log'>,
): Response {
  if (reply.kind !== 'messages') throw new Error('Only messages make a stream');
  const { messages } = reply;
  // Nobody would read, and so nobody would close it.
  if (c.req.raw.method === 'HEAD') messages.close();
  const body = eventStream(messages, {
    isAdmitted,
    cutOff: () => c.env.outgoing?.destroy(),
    onError: (err) => log.error({ request_id: c.get('requestId'), route: c.get('route'), err }, 'a stream ended early'),
  });
  // A proxy that collects an answer before it passes it on would pass on nothing.
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return c.body(body, 200, headers);
}

interface Export {
  endpoint: Endpoint;
  who: Principal;
  isAdmitted: () => Promise<boolean>;
  readPage: (after: string | undefined, count: CountChars) => Promise<Reply>;
}

/** Pages are as large as they may be, and go on behind the one before. */
export function exportInput({ exported }: Endpoint, input: Record<string, unknown>, after: string | undefined) {
  const { include: _, exclude: __, ...given } = input;
  const place = after === undefined ? {} : { after };
  return { ...given, ...exported?.parameters, ...place, limit: LIMITS.maxPageSize };
}

export async function sendLines(
  c: ApiContext,
  { endpoint, who, isAdmitted, readPage }: Export,
  { engine, queries, exports, log }: StreamOptions,
): Promise<Response> {
  const list = endpoint.exported;
  if (list === undefined) throw new Error('Only a list that is exported makes lines');
  const open = exports.open(who.accountId);
  const read = async (after: string | undefined): Promise<Page<object>> => {
    let page: Page<object> = { items: [], total: 0 };
    const ask = async (count: CountChars) => {
      const reply = await readPage(after, count);
      if (reply.kind === 'list') page = reply.page;
      for (const item of page.items) for (const value of Object.values(item)) count(charsIn(value));
      return null;
    };
    await (who === NOBODY ? ask(uncounted) : queries.run(who.accountId, ask));
    return page;
  };
  const about = { request_id: c.get('requestId'), route: c.get('route') };
  const body = await lineStream({
    list,
    readPage: read,
    isAdmitted,
    onBytes: (bytes) => who !== NOBODY && engine.usage.count(who.accountId, 'bytesOut', bytes),
    cutOff: () => c.env.outgoing?.destroy(),
    onError: (err) => log.error({ ...about, err }, 'an export ended early'),
    onEnd: open.close,
  }).catch((error: unknown) => {
    open.close();
    throw error;
  });
  const headers = { 'content-type': NDJSON_TYPE, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  if (c.req.raw.method !== 'HEAD') return c.body(body, 200, headers);
  // Nobody would read it.
  await body.cancel();
  return c.body(null, 200, headers);
}
