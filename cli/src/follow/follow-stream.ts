import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSourceMessage } from 'eventsource-parser';
import { type ApiClient, interrupted, type Parameters } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import { readStreamItems } from './read-events.ts';

export interface FollowOptions {
  api: ApiClient;
  path: string;
  query: Parameters;
  /** The last message that is known already. */
  lastId: string | undefined;
  onMessage(message: EventSourceMessage): void;
  /** The connection was lost; told once until it is back. */
  onLost(reason: string): void;
  onBack(): void;
  signal: AbortSignal;
  /** Default: see FIRST_PAUSE_MS and MAX_SILENCE_MS. */
  timing?: { firstPauseMs?: number; maxSilenceMs?: number };
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/**
 * Reads messages of a stream until the signal aborts, over any number of connections. Each
 * connection resumes after the last message of the previous one. Throws `interrupted` on abort, and
 * the server's error if it refuses for good.
 *
 *   connecting ── open ──► reading ── message ──► reading
 *       ▲                     │ ended, broken, silent
 *       └──── pause ◄─────────┘   (doubled while nothing comes, up to 10 s)
 */
export async function followStream(options: FollowOptions): Promise<never> {
  const { signal, timing = {} } = options;
  const state = { lastId: options.lastId, pauseMs: timing.firstPauseMs ?? FIRST_PAUSE_MS, lost: false };
  const firstPauseMs = state.pauseMs;
  for (;;) {
    const reason = await readOnce(options, {
      lastId: () => state.lastId,
      onOpen() {
        if (state.lost) options.onBack();
        state.lost = false;
      },
      onMessage(message) {
        if (message.id !== undefined && message.id !== '') state.lastId = message.id;
        state.pauseMs = firstPauseMs;
        options.onMessage(message);
      },
    });
    if (signal.aborted) throw interrupted();
    if (!state.lost) options.onLost(reason);
    state.lost = true;
    // The pauses of many clients of a server that starts again must not be in step.
    await sleep(state.pauseMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {
      throw interrupted();
    });
    state.pauseMs = Math.min(state.pauseMs * 2, MAX_PAUSE_MS);
  }
}

interface Reading {
  lastId(): string | undefined;
  onOpen(): void;
  onMessage(message: EventSourceMessage): void;
}

/** One connection, to its end; answers why it ended. */
async function readOnce({ api, path, query, signal, timing }: FollowOptions, reading: Reading): Promise<string> {
  const lastId = reading.lastId();
  const headers = { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
  try {
    const response = await api.open(path, query, headers, signal);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      throw new CliError('failure', `${api.url} does not stream ${path}`, { hint: 'The server is older than this hw' });
    }
    reading.onOpen();
    for await (const item of readStreamItems(response, timing?.maxSilenceMs)) {
      if (item.kind === 'message') reading.onMessage(item.message);
    }
    return 'the server closed the stream';
  } catch (error) {
    if (error instanceof CliError && !isPassing(error)) throw error;
    return (error as Error).message;
  }
}

/** A server that starts again refuses and is away for a while; a key that is not valid stays so. */
function isPassing({ exit, code }: CliError): boolean {
  return exit === 'unreachable' || code === 'RATE_LIMITED' || code === 'INTERNAL';
}
