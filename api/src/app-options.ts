import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Engine } from '@headwater/engine';
import type { AccountTurns } from './account-turns.ts';
import type { ApiEnv } from './environment.ts';
import type { ReadClientFacts } from './ingest/client-facts.ts';
import type { Log } from './log.ts';
import type { HttpMetrics } from './metrics.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';
import type { UnreadAnswers } from './unread-answers.ts';
import type { WebFiles } from './web/static-files.ts';
import type { Workers } from './workers/join-workers.ts';

export interface AppOptions {
  engine: Engine;
  /** Base URL that clients use, without a trailing slash: `https://hw.example.com`. */
  publicUrl: string;
  log: Log;
  metrics: HttpMetrics;
  turns: AccountTurns;
  /** Default: its own. */
  unread?: UnreadAnswers;
  unfinished?: UnfinishedBodies;
  /** Operator key, for `POST /v1/accounts`. Absent: accounts cannot be created. */
  adminKey?: string;
  /** Only /healthz, /metrics and the index: for nodes that serve no API. Default false. */
  probesOnly?: boolean;
  /** The built web UI. Absent: browsers are told how to build it. */
  web?: WebFiles;
  /** Origins that may show the portal of customers in a frame. Default: none. */
  portalFrameOrigins?: readonly string[];
  /** Origins whose pages may call the API, or `*` for all. Default: none. */
  corsOrigins?: readonly string[];
  /**
   * The addresses of clients, behind trusted proxies too. Default: the address of the connection.
   */
  clientFacts?: ReadClientFacts;
  /** True once shutdown has begun: /healthz then says so. Default: never. */
  isStopping?: () => boolean;
  /** Those of this machine, with this node. Default: it is alone. */
  workers?: Workers;
}

export type App = OpenAPIHono<ApiEnv>;
