import type { paths } from './schema.d.ts';
import type { Method } from './transport.ts';

/** The paths that have the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = paths[P][M];

/** The JSON body of a request. */
export type Body<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;

/** The whole answer as JSON; undefined if it has none. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : undefined;

type Query<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? Q : never;

type PathParameters<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & PathParameters<Rest>
  : unknown;

interface CommonOptions<P extends keyof paths, M extends Method> {
  query?: Query<P, M>;
  body?: Body<P, M>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** `path`: what stands for the names in braces. */
export type RequestOptions<P extends keyof paths, M extends Method> = CommonOptions<P, M> &
  (P extends `${string}{${string}` ? { path: PathParameters<P> } : { path?: never });

/** The options may be left out where the path has no names. */
export type Arguments<P extends keyof paths, M extends Method> = P extends `${string}{${string}`
  ? [options: RequestOptions<P, M>]
  : [options?: RequestOptions<P, M>];

/** One entry of a list. */
export type Item<P extends keyof paths> = Answer<P, 'get'> extends { data: (infer I)[] } ? I : never;

/** A resource with the state that it was read in. */
export type Tagged<P extends keyof paths, M extends Method> = (Answer<P, M> extends { data: infer D } ? D : never) & {
  etag?: string;
};
