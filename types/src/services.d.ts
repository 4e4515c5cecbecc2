/** `$.service.db`: the source's own store. */
export interface Db {
  /** At once; undefined where nothing is stored. May also be awaited. */
  get(key: string): any;
  /** JSON only, at most 60 KB; undefined takes the key away. */
  set(key: string, value: unknown): void;
}

export interface HttpAnswer {
  /** 100 to 599. */
  status: number;
  headers?:
    | Record<string, string | number | readonly string[] | undefined>
    | { entries(): Iterable<readonly [name: string, value: string]> };
  /** Text and bytes as they are, anything else as JSON. */
  body?: unknown;
}

/** `$.interface.http`. */
export interface HttpInterface {
  /** The URL of this source, the same over its updates. */
  endpoint: string;
  /**
   * Answers the client, in a prop with `customResponse: true`. The first call counts; the run goes
   * on.
   */
  respond(answer: HttpAnswer): Promise<void>;
}

/** `$.interface.timer`, as it was configured: an interval or a cron expression. */
export interface TimerInterface {
  intervalSeconds?: number;
  cron?: string;
  timezone?: string;
}

/**
 * `data_store`: a store that components of an account share. Writes take effect at once, even if
 * the run fails.
 */
export interface DataStore<T = any> extends AsyncIterable<[key: string, value: T]> {
  get(key: string): Promise<T | undefined>;
  /** JSON only. `ttl` in seconds. */
  set(key: string, value: T, options?: { ttl?: number }): Promise<void>;
  /** False where there was nothing. */
  delete(key: string): Promise<boolean>;
  has(key: string): Promise<boolean>;
  keys(): Promise<string[]>;
  entries(): Promise<[key: string, value: T][]>;
  clear(): Promise<void>;
}

/** Response; a status other than 2xx is thrown, with `response` on the error. */
export interface HttpResult {
  /** Parsed if it is JSON, else text. */
  data: any;
  status: number;
  statusText: string;
  headers: Record<string, string>;
  config: { method: string; url: string };
}

/** `http_request`: a request that the user described, and what does it. */
export interface HttpRequest {
  method?: string;
  url?: string;
  params?: unknown;
  headers?: unknown;
  body?: unknown;
  auth?: unknown;
  execute(): Promise<HttpResult>;
}

/** `sql`: a query that the user wrote. */
export interface SqlQuery {
  /** As it was entered. */
  value: string;
  /** With a place for each of `params`. */
  query: string;
  params: unknown[];
}
