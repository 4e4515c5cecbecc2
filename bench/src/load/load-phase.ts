import { machineMs } from '../clock.ts';
import { type Connection, openConnections, type Target } from './connection.ts';
import { createLatencies, type LatencySummary } from './latencies.ts';

export interface LoadOptions {
  target: Target;
  connections: number;
  requests: number;
  /** After this nothing new is sent. */
  maxMs: number;
  /** The bytes of request `index`. */
  request: (index: number) => string;
  /**
   * Absent: closed loop, each connection sends as soon as it was answered. Given: open loop,
   * requests are due at this rate.
   */
  ratePerSecond?: number;
}

export interface LoadResult {
  sent: number;
  /** Count of answers by status. */
  statuses: Record<number, number>;
  /** Start of each request on the machine's clock; in an open loop, the time when it was due. */
  startedAtMs: Float64Array;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** From startedAtMs to the answer. */
  answers: LatencySummary;
}

/**
 * Sends requests over keep-alive connections, one in flight on each. In an open loop, a request
 * that finds no free connection waits, and its latency counts from when it was due: a stall of the
 * server is seen by all that it held up.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const failed = Promise.withResolvers<never>();
  // Awaited below together with the work; until then it must not count as unhandled.
  failed.promise.catch(() => undefined);
  const connections = await openConnections(options.target, options.connections, failed.reject);
  try {
    return await Promise.race([drive(options, connections), failed.promise]);
  } finally {
    for (const connection of connections) connection.close();
  }
}

function drive(options: LoadOptions, connections: readonly Connection[]): Promise<LoadResult> {
  const { requests, request, ratePerSecond } = options;
  const finished = Promise.withResolvers<LoadResult>();
  const startedAtMs = new Float64Array(requests);
  const statuses: Record<number, number> = {};
  const latencies = createLatencies();
  const idle = [...connections];
  const beganAtMs = machineMs();
  const dueAtMs = (index: number) => (ratePerSecond === undefined ? 0 : beganAtMs + (index * 1_000) / ratePerSecond);
  let sent = 0;
  let answered = 0;
  let intake = requests;

  function sendWhatIsDue(): void {
    const nowMs = machineMs();
    if (nowMs - beganAtMs > options.maxMs) intake = Math.min(intake, sent);
    while (idle.length > 0 && sent < intake && dueAtMs(sent) <= nowMs) sendNext(idle.pop() as Connection);
    if (answered === intake) finish();
  }

  function sendNext(connection: Connection): void {
    const index = sent++;
    const startMs = ratePerSecond === undefined ? machineMs() : dueAtMs(index);
    startedAtMs[index] = startMs;
    connection.send(request(index), (status) => {
      latencies.record(machineMs() - startMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answered++;
      idle.push(connection);
      sendWhatIsDue();
    });
  }

  // An open loop needs a clock beside the answers; Node's finest is a millisecond.
  const ticks = ratePerSecond === undefined ? undefined : setInterval(sendWhatIsDue, 1);
  function finish(): void {
    clearInterval(ticks);
    const elapsedMs = machineMs() - beganAtMs;
    finished.resolve({ sent, statuses, startedAtMs, elapsedMs, answers: latencies.summary() });
  }
  sendWhatIsDue();
  return finished.promise;
}
