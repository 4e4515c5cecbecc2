import { LIMITS, newId } from '@headwater/shared';
import { type Inbox, isUrlBelow, type Received } from '../transports/webhook/inbox.ts';
import type { Sql } from '../../db/index.ts';
import {
  type AnswerRow,
  deleteTunnelRequest,
  insertTunnelRequest,
  isListenedTo,
  readTunnelAnswers,
} from './tunnels.sql.ts';

export interface TunnelInbox extends Inbox {
  /** The beginning of a tunnel's URL. */
  base: string;
  /** Ends all waits for answers. */
  stop(): void;
}

const PATH = '/tunnels/';
const NOBODY = { error: 'Nobody listens: start hw listen again', errorClass: 'connection' } as const;
const STOPPED = { error: 'The server stopped', errorClass: 'internal' } as const;

/**
 * The delivering side of a tunnel. A request waits in the database for the developer, whose client
 * may listen on another node. Its attempt waits for the answer.
 */
export function createTunnelInbox(sql: Sql, publicUrl: string): TunnelInbox {
  const base = new URL(publicUrl).href.replace(/\/$/, '') + PATH;
  const answers = createAnswers((ids) => readTunnelAnswers(sql, ids));
  return {
    base,
    isBelow: (url) => isUrlBelow(url, base, PATH),
    async receive(delivery, { headers, body }, timeoutMs) {
      const { accountId, webhookId, id: deliveryId } = delivery;
      if (!(await isListenedTo(sql, webhookId))) return NOBODY;
      const id = newId('tunnelRequest');
      const request = { id, accountId, webhookId, deliveryId, headers: { ...headers }, timeoutMs };
      await insertTunnelRequest(sql, { ...request, body: Buffer.from(body).toString() });
      try {
        return await answers.of(id, timeoutMs);
      } finally {
        // Requests that are left here expire.
        await deleteTunnelRequest(sql, id).catch(() => undefined);
      }
    },
    stop: answers.stop,
  };
}

/** One look at a time for all that is waited for, and none where nothing is. */
function createAnswers(read: (ids: readonly string[]) => Promise<AnswerRow[]>) {
  const waiting = new Map<string, (received: Received) => void>();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    // The database may be away: the attempts time out.
    const rows = await read([...waiting.keys()]).catch(() => []);
    for (const row of rows) waiting.get(row.id)?.(receivedOf(row));
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (waiting.size > 0) timer ??= setTimeout(() => void look(), LIMITS.tunnelPollMs);
  }

  return {
    of(id: string, timeoutMs: number): Promise<Received> {
      return new Promise((resolve) => {
        const settle = (received: Received) => {
          clearTimeout(timeout);
          waiting.delete(id);
          resolve(received);
        };
        const late = { error: `No answer within ${timeoutMs} ms`, errorClass: 'timeout' } as const;
        const timeout = setTimeout(() => settle(late), timeoutMs);
        waiting.set(id, settle);
        schedule();
      });
    },
    stop() {
      clearTimeout(timer);
      for (const settle of waiting.values()) settle(STOPPED);
    },
  };
}

function receivedOf({ status, headers, response, error }: AnswerRow): Received {
  if (status === null) return { error: error ?? '', errorClass: 'connection' };
  return { status, headers, text: response };
}
