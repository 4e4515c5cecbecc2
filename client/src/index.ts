export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Answer, Body, PathOf, RequestOptions, Tagged } from './operations.ts';
export { HeadwaterProblem, type Problem } from './problem.ts';
export type { components, paths } from './schema.d.ts';
export { readStream, type StreamMessage } from './read-stream.ts';
export type { Method } from './transport.ts';
