import type { Answer, Arguments, Item, PathOf, Tagged } from './operations.ts';
import type { StreamMessage } from './read-stream.ts';
import { createTransport, type Method, type RequestParts, type TransportOptions } from './transport.ts';

export type ClientOptions = TransportOptions;

/**
 * The REST API, typed by its OpenAPI document. Each method throws HeadwaterProblem if the server
 * refuses, and the error of `fetch` if it does not answer.
 */
export interface Client {
  get<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): Promise<Answer<P, 'get'>>;
  post<P extends PathOf<'post'>>(path: P, ...options: Arguments<P, 'post'>): Promise<Answer<P, 'post'>>;
  /** A resource, as it was read or changed, with its `etag` for `if-match` of the next change. */
  tagged<M extends Method, P extends PathOf<M>>(method: M, path: P, ...options: Arguments<P, M>): Promise<Tagged<P, M>>;
  put<P extends PathOf<'put'>>(path: P, ...options: Arguments<P, 'put'>): Promise<Answer<P, 'put'>>;
  delete<P extends PathOf<'delete'>>(path: P, ...options: Arguments<P, 'delete'>): Promise<Answer<P, 'delete'>>;
  /** Every entry of a list, page after page. */
  all<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): AsyncGenerator<Item<P>>;
  /** Messages of a stream; it resumes after a lost connection. */
  stream<P extends PathOf<'get'>>(path: P, ...options: Arguments<P, 'get'>): AsyncGenerator<StreamMessage>;
}

/** Options of any operation, as the requests are made of them. */
interface AnyOptions extends RequestParts {
  path?: Readonly<Record<string, string>>;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  const methods = (['get', 'post', 'put', 'delete'] as const).map((method) => [
    method,
    async (path: string, given?: AnyOptions) => (await transport.ask(method, fill(path, given), given)).body,
  ]);
  const rest = {
    async tagged(method: Method, path: string, given?: AnyOptions) {
      const { body, headers } = await transport.ask(method, fill(path, given), given);
      const etag = headers.get('etag');
      const { data } = body as { data: object };
      return etag === null ? data : { ...data, etag };
    },
    async *all(path: string, given?: AnyOptions) {
      yield* transport.all(fill(path, given), given);
    },
    async *stream(path: string, given?: AnyOptions) {
      yield* transport.stream(fill(path, given), given);
    },
  };
  return { ...Object.fromEntries(methods), ...rest } as Client;
}

const OPTIONS = ['path', 'query', 'body', 'headers', 'signal'];

/** Throws TypeError for a name that is missing, and for an option that would have no effect. */
function fill(path: string, given: AnyOptions = {}): string {
  // TypeScript does not find it behind a spread. A condition without effect loses a write.
  const unknown = Object.keys(given).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new TypeError(`${path} has no option ${unknown}. Use one of ${OPTIONS.join(', ')}`);
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given.path?.[name];
    if (value === undefined) throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}
