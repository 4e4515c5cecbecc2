export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Answer, Body, Method, PathOf, RequestOptions } from './operations.ts';
export { HeadwaterProblem, type Problem } from './problem.ts';
export type { components, paths } from './schema.d.ts';
export type { StreamMessage } from './read-stream.ts';
