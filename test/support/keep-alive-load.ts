import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** How one request ended, from its client's side. */
export interface RequestEnd {
  id: string;
  /** 0 where there was no answer. */
  status: number;
  /** Error of the connection, if there was no answer. */
  error?: string;
  text?: string;
  /** Its connection had served another request before. */
  reused?: boolean;
  /** Since the load began. */
  startedMs: number;
  endedMs: number;
}

export interface KeepAliveLoad {
  ends: RequestEnd[];
  /** Starts no more; resolves when the last has ended. */
  stop(): Promise<void>;
}

/** Settings of one client, which sends one request after the other. */
export interface LoadClient {
  url: string;
  name: string;
  /** False: each request has a connection of its own. Default true. */
  keepAlive?: boolean;
  /** Between an answer and the next request. Default 0. */
  pauseMs?: number;
  /** Default: until the load is stopped. */
  requests?: number;
}

/** Clients with sequential requests. Each stops when its connection is refused. */
export function startLoad(clients: readonly LoadClient[]): KeepAliveLoad {
  const beganMs = performance.now();
  const agent = new Agent({ keepAlive: true });
  const ends: RequestEnd[] = [];
  const state = { stopped: false };
  const run = async ({ url, name, keepAlive = true, pauseMs = 0, requests = Infinity }: LoadClient) => {
    for (let at = 0; at < requests && !state.stopped; at++) {
      const startedMs = performance.now() - beganMs;
      const end = await postOnce(url, `${name}-${at}`, keepAlive ? agent : undefined);
      ends.push({ ...end, startedMs, endedMs: performance.now() - beganMs });
      if (end.error === 'ECONNREFUSED') return;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const all = Promise.all(clients.map(run));
  return {
    ends,
    async stop() {
      state.stopped = true;
      await all;
      agent.destroy();
    },
  };
}

function postOnce(
  url: string,
  id: string,
  agent: Agent | undefined,
): Promise<Omit<RequestEnd, 'startedMs' | 'endedMs'>> {
  return new Promise((resolve) => {
    const body = JSON.stringify({ id });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = httpRequest(url, { method: 'POST', headers, agent: agent ?? false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.once('end', () => resolve({ id, status: answer.statusCode ?? 0, text }));
      answer.once('error', (error: NodeJS.ErrnoException) => resolve({ id, status: 0, error: `${error.code}` }));
    });
    sent.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ id, status: 0, error: `${error.code}`, reused: sent.reusedSocket }),
    );
    sent.end(body);
  });
}
