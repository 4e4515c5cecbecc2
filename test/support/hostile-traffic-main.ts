import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrafficOrder, TrafficPhase, TrafficRate } from './hostile-traffic.ts';

const ANSWER_TIMEOUT_MS = 15_000;
const WARM_UP_TIMEOUT_MS = 20_000;
const WARM_UP_IN_FLIGHT = 4;
const POLL_MS = 5;

interface Sample {
  sentAtMs: number;
  status: number | undefined;
  receipts: number;
  latencyMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let phaseCount = 0;
let samples = new Map<string, Sample>();
let timer: NodeJS.Timeout | undefined;

const receiver = createServer((incoming, answer) => {
  let text = '';
  incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  incoming.on('end', () => {
    const atMs = performance.now();
    const sample = samples.get((JSON.parse(text) as { id: string }).id);
    if (sample !== undefined && ++sample.receipts === 1) sample.latencyMs = atMs - sample.sentAtMs;
    answer.end();
  });
});

function send(endpoint: string): Promise<void> {
  const id = `${phaseCount}-${samples.size}`;
  const sample: Sample = { sentAtMs: performance.now(), status: undefined, receipts: 0, latencyMs: 0 };
  samples.set(id, sample);
  const body = JSON.stringify({ id });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve) => {
    const settle = (status: number) => {
      sample.status = status;
      resolve();
    };
    const outgoing = request(endpoint, { method: 'POST', agent, headers, timeout: ANSWER_TIMEOUT_MS }, (answer) => {
      answer.resume().once('end', () => settle(answer.statusCode ?? 0));
      answer.once('error', () => settle(0));
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => settle(0));
    outgoing.end(body);
  });
}

function newPhase(): void {
  phaseCount++;
  samples = new Map();
}

async function warmUp(endpoint: string, requests: number): Promise<void> {
  newPhase();
  let left = requests;
  const one = async () => {
    while (left-- > 0) await send(endpoint);
  };
  await Promise.all(Array.from({ length: WARM_UP_IN_FLIGHT }, one));
  if (!(await untilArrived(WARM_UP_TIMEOUT_MS))) {
    throw new Error(`The neighbour is not served before the attack: ${JSON.stringify(summary())}`);
  }
}

function begin(endpoint: string, rate: TrafficRate): void {
  newPhase();
  const beganMs = performance.now();
  const sendNext = () => {
    void send(endpoint);
    // After a stall of this process the missed ones are left out: sent together they would measure
    // each other.
    const elapsedMs = performance.now() - beganMs;
    timer = setTimeout(sendNext, Math.ceil(nextDueMs(rate, elapsedMs) - elapsedMs));
  };
  sendNext();
}

/** Milliseconds of the phase at which the first request after `afterMs` is due. */
function nextDueMs({ perSecond, laterPerSecond = perSecond, requests = 0 }: TrafficRate, afterMs: number): number {
  const firstMs = (requests * 1_000) / perSecond;
  if (afterMs < firstMs) return dueAfter(afterMs, perSecond);
  return firstMs + dueAfter(afterMs - firstMs, laterPerSecond);
}

const dueAfter = (ms: number, perSecond: number) => ((Math.floor((ms / 1_000) * perSecond) + 1) / perSecond) * 1_000;

async function end(drainMs: number): Promise<TrafficPhase> {
  clearTimeout(timer);
  await untilArrived(drainMs);
  return summary();
}

async function untilArrived(timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  const isOpen = (sample: Sample) => sample.status === undefined || (sample.status === 200 && sample.receipts === 0);
  for (;;) {
    if (![...samples.values()].some(isOpen)) return true;
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

function summary(): TrafficPhase {
  const all = [...samples.values()];
  const statuses: Record<string, number> = {};
  for (const { status = 0 } of all) statuses[status] = (statuses[status] ?? 0) + 1;
  const arrived = all.filter((sample) => sample.receipts > 0);
  return {
    sent: all.length,
    statuses,
    lost: all.length - arrived.length,
    repeated: all.filter((sample) => sample.receipts > 1).length,
    latenciesMs: arrived.map((sample) => sample.latencyMs).toSorted((a, b) => a - b),
  };
}

async function obey(order: TrafficOrder): Promise<unknown> {
  switch (order.kind) {
    case 'warm-up':
      return warmUp(order.endpoint, order.requests);
    case 'begin':
      return begin(order.endpoint, order.rate);
    case 'count':
      return samples.size;
    case 'end':
      return end(order.drainMs);
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (order: TrafficOrder) => {
  obey(order).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  );
});
receiver.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
});
