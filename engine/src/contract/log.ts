/** Structured log of a process, made by its main file. */
export type { Logger as Log } from 'pino';
