import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** State that one middleware passes to the next. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    requestId: string;
    /** `/v1/sources/{id}`: for logs and metrics, which never name a resource. */
    route: string;
    /** Account of the caller; absent until the request is authenticated. */
    accountId?: string;
  };
}

export type ApiContext = Context<ApiEnv>;
