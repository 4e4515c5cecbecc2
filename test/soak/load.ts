import { Agent, request as sendRequest } from 'node:http';
import type { NodeProcess } from './node-process.ts';
import type { Random } from './random.ts';
import type { Answer, SentRequest } from './records.ts';
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
  sourceRatePerSecond: number;
  workflowRatePerSecond: number;
  random: Random;
}

const TICK_MS = 20;
/** A delayed driver sends at most this many seconds of missed requests. */
const MAX_BURST_S = 0.5;
const ANSWER_TIMEOUT_MS = 30_000;
const REPEATED_IDS = 0.05;
/**
 * A repeated id was first sent among this many before: far less than what `dedupe: unique`
 * remembers.
 */
const REPEATS_WITHIN = 30;
/**
 * Shares of the runs that take longer, up to so long: kills find them under way, some more than
 * once.
 */
const LONGER_RUNS = [
  { share: 0.003, maxMs: 8_000 },
  { share: 0.1, maxMs: 400 },
] as const;

type Sent = Pick<SentRequest, 'request' | 'to' | 'tenant' | 'id'>;

/**
 * Open loop: requests go out at their rate, to the nodes in turn, even if earlier ones are
 * unanswered.
 */
export function startLoad(options: LoadOptions): Load {
  const { nodes, tenants, random } = options;
  const requests: SentRequest[] = [];
  const pending = new Set<Promise<void>>();
  const agents = new Map(nodes.map((node) => [node, new Agent({ keepAlive: true, timeout: 2_000 })]));
  const recentIds: string[][] = tenants.map(() => []);
  let count = 0;

  function chooseId(tenant: number): string {
    const recent = recentIds[tenant] as string[];
    const repeated = random.next() < REPEATED_IDS ? random.pick(recent) : undefined;
    const id = repeated ?? `id-${count}`;
    recent.push(id);
    if (recent.length > REPEATS_WITHIN) recent.shift();
    return id;
  }

  function send(to: 'source' | 'workflow'): void {
    const request = ++count;
    const tenant = request % tenants.length;
    const { [to]: target } = tenants[tenant] as Tenant;
    const id = to === 'source' ? chooseId(tenant) : `id-${request}`;
    const node = random.pick(nodes) as NodeProcess;
    const longer = LONGER_RUNS.find(({ share }) => random.next() < share);
    const takesMs = Math.round(random.between(0, longer?.maxMs ?? 0));
    const body = JSON.stringify({ id, request, takesMs });
    const sent = exchange(node, agents.get(node) as Agent, target.path, body, { request, to, tenant, id });
    const noted = sent.then((result) => void requests.push(result)).finally(() => pending.delete(noted));
    pending.add(noted);
  }

  const stops = [
    everyDue(options.sourceRatePerSecond, () => send('source')),
    everyDue(options.workflowRatePerSecond, () => send('workflow')),
  ];
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
        end(answerOf(status), `${status} ${text.slice(0, 300)}`, headers['retry-after'] !== undefined);
      });
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      const onKeptConnection = request.reusedSocket ? ' on a kept connection' : '';
      end(error.code === 'ECONNREFUSED' ? 'unreachable' : 'reset', `${error.message}${onKeptConnection}`);
    });
    request.end(body);
  });
}

function answerOf(status: number): Answer {
  if (status === 200) return 'accepted';
  if (status === 503 || status === 429) return 'refused';
  return status >= 500 ? 'error' : 'odd';
}
