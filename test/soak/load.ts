import { Agent, request as sendRequest } from 'node:http';
import type { NodeProcess } from './node-process.ts';
import type { Random } from './random.ts';
import { createContents } from './request-contents.ts';
import type { Answer, SentRequest, Target } from './records.ts';
import type { Tenant } from './tenants.ts';

export interface Load {
  requests: readonly SentRequest[];
  /**
   * Nothing new is sent from now on. Resolves when every request has its answer, 30 s later at
   * most.
   */
  stop(): Promise<void>;
}

export interface LoadOptions {
  nodes: readonly NodeProcess[];
  tenants: readonly Tenant[];
  /** Requests a second, over all accounts. */
  rates: Readonly<Record<Target, number>>;
  /** Events of each request to `source`. */
  emits: number;
  random: Random;
}

const TICK_MS = 20;
/** A delayed driver sends at most this many seconds of missed requests. */
const MAX_BURST_S = 0.5;
const ANSWER_TIMEOUT_MS = 30_000;
type Sent = Pick<SentRequest, 'request' | 'to' | 'tenant' | 'id' | 'turn'>;

/**
 * Open loop: requests go out at their rate, to the nodes in turn, even if earlier ones are
 * unanswered.
 */
export function startLoad(options: LoadOptions): Load {
  const { nodes, tenants, random } = options;
  const requests: SentRequest[] = [];
  const pending = new Set<Promise<void>>();
  const agents = new Map(nodes.map((node) => [node, new Agent({ keepAlive: true, timeout: 2_000 })]));
  const contents = createContents(tenants.length, options.emits, random);
  let count = 0;

  function send(to: Target): void {
    const request = ++count;
    const tenant = request % tenants.length;
    const { path } = (tenants[tenant] as Tenant).targets[to];
    const { id, turn, body } = contents.next(to, tenant, request);
    const node = random.pick(nodes) as NodeProcess;
    const agent = agents.get(node) as Agent;
    const sent = exchange(node, agent, path, JSON.stringify(body), { request, to, tenant, id, turn });
    const noted = sent.then((result) => void requests.push(result)).finally(() => pending.delete(noted));
    pending.add(noted);
  }

  const rates = Object.entries(options.rates) as [Target, number][];
  const stops = rates.map(([to, ratePerSecond]) => everyDue(ratePerSecond, () => send(to)));
  return {
    requests,
    async stop() {
      for (const stop of stops) stop();
      await Promise.all(pending);
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function everyDue(ratePerSecond: number, act: () => void): () => void {
  let due = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    due = Math.min(due + ((nowMs - lastMs) / 1_000) * ratePerSecond, Math.max(1, MAX_BURST_S * ratePerSecond));
    lastMs = nowMs;
    for (; due >= 1; due--) act();
  }, TICK_MS);
  return () => clearInterval(timer);
}

function exchange(node: NodeProcess, agent: Agent, path: string, body: string, sent: Sent): Promise<SentRequest> {
  const sentAtMs = Date.now();
  return new Promise((resolve) => {
    const end = (answer: Answer, detail: string, hasRetryAfter = false) => {
      clearTimeout(timeout);
      const nowMs = Date.now();
      resolve({
        ...sent,
        node: node.name,
        sentAtMs,
        tookMs: nowMs - sentAtMs,
        answer,
        wasDisturbed: node.wasDisturbed(sentAtMs, nowMs),
        wasStopping: node.isStopping(),
        hasRetryAfter,
        detail,
      });
    };
    const request = sendRequest(node.url + path, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    const timeout = setTimeout(() => {
      end('silent', `${ANSWER_TIMEOUT_MS} ms`);
      request.destroy();
    }, ANSWER_TIMEOUT_MS);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', (error) => end('reset', error.message));
      response.once('end', () => {
        const { statusCode: status = 0, headers } = response;
        end(answerOf(sent.to, status), `${status} ${text.slice(0, 300)}`, headers['retry-after'] !== undefined);
      });
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      const onKeptConnection = request.reusedSocket ? ' on a kept connection' : '';
      end(error.code === 'ECONNREFUSED' ? 'unreachable' : 'reset', `${error.message}${onKeptConnection}`);
    });
    request.end(body);
  });
}

function answerOf(to: Target, status: number): Answer {
  if (to === 'asked' ? status === 201 || status === 202 : status === 200) return 'accepted';
  if (status === 503 || status === 429) return 'refused';
  return status >= 500 ? 'error' : 'odd';
}
