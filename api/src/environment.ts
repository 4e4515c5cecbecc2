import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** What a request carries from one middleware to the next. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    requestId: string;
    /** `/v1/sources/{id}`: for logs and metrics, which never name a resource. */
    route: string;
    /** Whose request it is, once that is known. */
    accountId?: string;
  };
}

export type ApiContext = Context<ApiEnv>;
