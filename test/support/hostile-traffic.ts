import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { rememberProcess } from './run-folder.ts';

/** Order to the traffic's process, which answers each with one message. */
export type TrafficOrder =
  | { kind: 'warm-up'; endpoint: string; requests: number }
  | { kind: 'begin'; endpoint: string; rate: TrafficRate }
  /** How many requests were sent in the phase so far. */
  | { kind: 'count' }
  /** Stops sending and waits, for at most `drainMs`, until every event of the phase has arrived. */
  | { kind: 'end'; drainMs: number };

/** A constant rate; with `laterPerSecond`, another one after the first `requests`. */
export interface TrafficRate {
  perSecond: number;
  requests?: number;
  laterPerSecond?: number;
}

/** One phase of traffic: the requests and their outcomes. */
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
  /** URL for deliveries of the neighbour's events. */
  receiverUrl: string;
  /**
   * Sends this many requests, a few at a time, and waits for their events. Then the isolate,
   * connections and caches are warm.
   */
  warmUp(endpoint: string, requests: number): Promise<void>;
  /** Sends at that rate, even if earlier requests are unanswered. */
  begin(endpoint: string, rate: TrafficRate): Promise<void>;
  /** Ends the phase. */
  end(drainMs: number): Promise<TrafficPhase>;
  /** Requests sent in the phase so far. */
  sent(): Promise<number>;
  /** Ends the process; open calls get no answer. */
  stop(): void;
}

const MAIN = fileURLToPath(new URL('./hostile-traffic-main.ts', import.meta.url));

/**
 * A client and a receiver in a process and session of their own, as people elsewhere are: what the
 * test is busy with does not count against the server. It ends with this process.
 */
export async function startTraffic(): Promise<Traffic> {
  const child = fork(MAIN, { detached: true, execArgv: [] });
  child.once('exit', rememberProcess(child.pid));
  const [receiverUrl] = (await once(child, 'message')) as [string];
  child.unref();
  child.channel?.unref();
  const ask = async <T>(order: TrafficOrder): Promise<T> => {
    const answered = once(child, 'message');
    child.send(order);
    const [answer] = (await answered) as [{ answer: T } | { failure: string }];
    if ('failure' in answer) throw new Error(answer.failure);
    return answer.answer;
  };
  return {
    receiverUrl,
    warmUp: (endpoint, requests) => ask({ kind: 'warm-up', endpoint, requests }),
    begin: (endpoint, rate) => ask({ kind: 'begin', endpoint, rate }),
    sent: () => ask({ kind: 'count' }),
    end: (drainMs) => ask({ kind: 'end', drainMs }),
    stop: () => void child.kill(),
  };
}
