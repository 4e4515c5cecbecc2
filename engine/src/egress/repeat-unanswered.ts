import { type Exchange, type ExchangeOutcome, type ExchangeRequest, startExchange } from './exchange.ts';
import type { Connection } from './tenant-connections.ts';

/** With `fresh`, a new connection that was never idle. */
export type TakeConnection = (fresh?: 'fresh') => Connection;

/**
 * A server says it of a connection on which it has waited for a request too long, perhaps while
 * that was on its way.
 */
const REQUEST_TIMEOUT = 408;

/**
 * startExchange, and once more at once, on a new connection, where the first one had been closed by
 * its server while it was idle. The time of both is that of the request. The caller has made sure
 * that a repetition does no harm: whether the server has seen the request cannot be known for sure.
 */
export function startRepeatable(take: TakeConnection, request: ExchangeRequest): Exchange {
  const startedAtMs = performance.now();
  const connection = take();
  const { isUsed } = connection;
  let current = startExchange(connection, request);
  let isAborted = false;
  const repeatUnanswered = (outcome: ExchangeOutcome): ExchangeOutcome | Promise<ExchangeOutcome> => {
    const timeoutMs = request.timeoutMs - (performance.now() - startedAtMs);
    if (isAborted || timeoutMs <= 0 || !(isUsed && isUnanswered(outcome))) return outcome;
    current = startExchange(take('fresh'), { ...request, timeoutMs });
    return current.done;
  };
  return {
    done: current.done.then(repeatUnanswered),
    abort() {
      isAborted = true;
      current.abort();
    },
    times: () => current.times(),
  };
}

function isUnanswered(outcome: ExchangeOutcome): boolean {
  if (outcome.kind === 'error') return outcome.isUnanswered === true;
  return outcome.kind === 'response' && outcome.status === REQUEST_TIMEOUT;
}
