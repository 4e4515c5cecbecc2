import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the traffic's thread is asked to do; it answers each with one message. */
export type TrafficOrder =
  | { kind: 'warm-up'; endpoint: string; requests: number }
  | { kind: 'begin'; endpoint: string; perSecond: number }
  /** Stops sending and waits, for at most `drainMs`, until every event of the phase has arrived. */
  | { kind: 'end'; drainMs: number };

/** One phase of traffic: what was sent, what came of it. */
export interface TrafficPhase {
  sent: number;
  /** Requests by the status of their answer; 0 where there was none. */
  statuses: Record<string, number>;
  /** Events that never arrived, and those that arrived more than once. */
  lost: number;
  repeated: number;
  /** Milliseconds from sending to receipt, of each event that arrived, ascending. */
  latenciesMs: number[];
}

export interface Traffic {
  /** Where the neighbour's events are to be delivered. */
  receiverUrl: string;
  /** Sends so many requests, a few at a time, and waits for their events: the isolate, connections and caches are warm then. */
  warmUp(endpoint: string, requests: number): Promise<void>;
  /** Sends steadily, at so many a second, whether or not earlier requests were answered. */
  begin(endpoint: string, perSecond: number): Promise<void>;
  /** Ends the phase. */
  end(drainMs: number): Promise<TrafficPhase>;
  /** Requests sent in the phase so far. */
  sent(): number;
  stop(): Promise<void>;
}

/** A client and a receiver in a thread of their own: what the test's thread is busy with does not count against the server. */
export async function startTraffic(): Promise<Traffic> {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./hostile-traffic-main.ts', import.meta.url), { workerData: counter });
  const [receiverUrl] = (await once(worker, 'message')) as [string];
  const ask = async <T>(order: TrafficOrder): Promise<T> => {
    const answered = once(worker, 'message');
    worker.postMessage(order, []);
    const [answer] = (await answered) as [T | { failure: string }];
    if (typeof answer === 'object' && answer !== null && 'failure' in answer) throw new Error(answer.failure);
    return answer as T;
  };
  return {
    receiverUrl,
    warmUp: (endpoint, requests) => ask({ kind: 'warm-up', endpoint, requests }),
    begin: (endpoint, perSecond) => ask({ kind: 'begin', endpoint, perSecond }),
    end: (drainMs) => ask({ kind: 'end', drainMs }),
    sent: () => Atomics.load(counter, 0),
    stop: async () => void (await worker.terminate()),
  };
}

/** Milliseconds; `n` samples. */
export interface LatencySummary {
  p50: number;
  p99: number;
  n: number;
}

export function summarizeLatencies({ latenciesMs }: TrafficPhase): LatencySummary {
  const at = (percent: number) => latenciesMs[Math.max(1, Math.ceil((percent / 100) * latenciesMs.length)) - 1] ?? 0;
  return { p50: at(50), p99: at(99), n: latenciesMs.length };
}
