import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';

export interface ReceivedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The same as it came. */
  bytes: Buffer;
  /** Epoch milliseconds at which the request was complete. */
  at: number;
}

export interface ScriptedAnswer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Waited before the answer; for timeouts and slow receivers. */
  delayMs?: number;
  /** Waited for before the answer. */
  after?: Promise<unknown>;
  /** Cut the connection instead of answering. */
  hangUp?: boolean;
}

export interface Receiver {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** In the order in which they were complete. */
  requests: ReceivedRequest[];
  /** The next requests get these answers, one each; then `answer`. */
  script(...answers: ScriptedAnswer[]): void;
  /** Answer to requests beyond the script. Default: 200, empty. */
  answer: ScriptedAnswer | ((request: ReceivedRequest) => ScriptedAnswer);
  /** Resolves with all requests once there are `count` of them. */
  until(count: number, timeoutMs?: number): Promise<ReceivedRequest[]>;
  /** Cuts open connections. Idempotent. */
  stop(): Promise<void>;
}

/** An HTTP server on loopback that keeps its requests. `port`: default 0, a free port. */
export async function startReceiver(options: { port?: number } = {}): Promise<Receiver> {
  const scripted: ScriptedAnswer[] = [];
  const server = createServer((request, response) => {
    // A client that goes away in the middle of its request is nothing a receiver reports.
    void receive(request, response).catch(() => response.destroy());
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await readRequest(request);
    receiver.requests.push(received);
    const { answer } = receiver;
    await respond(response, scripted.shift() ?? (typeof answer === 'function' ? answer(received) : answer));
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  let stopped: Promise<void> | undefined;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    script: (...answers) => void scripted.push(...answers),
    answer: {},
    until: async (count, timeoutMs = 10_000) => {
      const got = () => receiver.requests.length >= count && receiver.requests;
      return eventually(got, { timeoutMs, what: `${count} requests at the receiver` });
    },
    stop: () => (stopped ??= stop()),
  };
  return receiver;
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body: bytes.toString('utf8'),
    bytes,
    at: Date.now(),
  };
}

async function respond(response: ServerResponse, answer: ScriptedAnswer): Promise<void> {
  if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  await answer.after;
  if (answer.hangUp) {
    response.destroy();
    return;
  }
  response.writeHead(answer.status ?? 200, answer.headers);
  response.end(answer.body ?? '');
}
