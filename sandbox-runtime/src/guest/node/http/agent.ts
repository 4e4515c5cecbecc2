import { EventEmitter } from 'events/';
import { giveName } from '../give-names.ts';

export interface AgentOptions {
  keepAlive?: boolean;
  maxSockets?: number;
  maxFreeSockets?: number;
  timeout?: number;
  [name: string]: unknown;
}

/** Accepted and remembered: connections are kept and limited by the node, not by the component. */
export class Agent extends EventEmitter {
  static defaultMaxSockets = Number.POSITIVE_INFINITY;
  defaultPort = 80;
  protocol = 'http:';
  readonly options: AgentOptions;
  readonly keepAlive: boolean;
  readonly keepAliveMsecs = 1000;
  readonly maxSockets: number;
  readonly maxFreeSockets: number;
  readonly maxTotalSockets = Number.POSITIVE_INFINITY;
  readonly sockets = {};
  readonly freeSockets = {};
  readonly requests = {};

  constructor(options: AgentOptions = {}) {
    super();
    this.options = { path: null, noDelay: true, ...options };
    this.keepAlive = options.keepAlive ?? false;
    this.maxSockets = options.maxSockets ?? Agent.defaultMaxSockets;
    this.maxFreeSockets = options.maxFreeSockets ?? 256;
  }

  getName(options: { host?: string; port?: number | string } = {}): string {
    return `${options.host ?? 'localhost'}:${options.port ?? ''}:`;
  }

  destroy(): void {}
}

/** Node has two classes of one name. */
export class HttpsAgent extends Agent {
  override defaultPort = 443;
  override protocol = 'https:';

  static {
    giveName(this, 'Agent');
  }
}
