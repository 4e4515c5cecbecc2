/** Key of the dispatcher of `fetch`, in Node and in the package undici alike. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

interface Agent {
  close(): Promise<void>;
}

/**
 * Ends the connections that `fetch` of this process keeps open, each when what it is asked for is
 * answered. A node that stops waits some seconds for the next request of each.
 */
export function endIdleConnections(): void {
  const kept = globalThis as { [DISPATCHER]?: Agent & { constructor: new () => Agent } };
  const agent = kept[DISPATCHER];
  if (agent === undefined) return;
  kept[DISPATCHER] = new agent.constructor() as typeof agent;
  // A request that fails now has a caller that hears of it.
  agent.close().catch(() => undefined);
}
