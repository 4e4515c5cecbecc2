import type postgres from 'postgres';

export type Client = postgres.Sql<{ bigint: number }>;

/**
 * Internal state of a query in postgres.js 3.4.9, beyond its published type. The query goes to
 * `handler` when a caller awaits it, and `resolve` or `reject` settles it. The pool's tests check
 * newer versions.
 */
export interface PostgresQuery {
  handler: (query: PostgresQuery) => void;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  /** Once it was made ready to be sent. */
  readonly string?: string;
  /** As they were sent, which makes them unfit to be sent again. */
  parameters?: unknown;
  retried?: unknown;
}

/** Not one that `made` names or builds a part of a statement. */
function isQuery(made: unknown): made is PostgresQuery {
  return typeof made === 'object' && made !== null && 'handler' in made;
}

/** How `client` itself runs a query. */
export function handlerOf(client: Client): (query: PostgresQuery) => void {
  return (client.unsafe('') as unknown as PostgresQuery).handler;
}

type Template = (...parameters: unknown[]) => unknown;

/** As `client` makes queries, but `run` runs them. */
export function createSqlTag(client: Client, run: (query: PostgresQuery) => void): postgres.ISql<{ bigint: number }> {
  const routed = (made: unknown): unknown => {
    if (isQuery(made)) made.handler = run;
    return made;
  };
  const [template, unsafe] = [client as Template, client.unsafe as Template];
  const { options, typed, types, json, array } = client;
  const tag = (...parameters: unknown[]) => routed(template(...parameters));
  const own = {
    options,
    typed,
    types,
    json,
    array,
    unsafe: (...parameters: unknown[]) => routed(unsafe(...parameters)),
  };
  return Object.assign(tag, own) as unknown as postgres.ISql<{ bigint: number }>;
}
