/** Where undici keeps what `fetch` uses, its own package and the one in Node alike. */
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
  // What was not answered concerns its own caller.
  agent.close().catch(() => undefined);
}
