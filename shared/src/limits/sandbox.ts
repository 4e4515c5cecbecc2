import { defineLimits } from './define-limits.ts';

/** Sandbox processes: calls of the code, its memory there, and data that the node reads from it. */
// biome-ignore format: one limit a line
export const SANDBOX_LIMITS = defineLimits({
  maxHeldBundleChars: { default: 128 * 1024 * 1024, unit: 'characters', scope: 'account', why: 'code of components, with packages and source maps, that runs hold on a node; more wait' },
  maxCallsPerTurn: { default: 10_000, unit: 'count', scope: 'run', why: 'calls to the platform in one stretch of code without a pause, besides as many as `maxEmitsPerRun`' },
  maxOpenCalls: { default: 1_000, unit: 'count', scope: 'isolate', why: 'open calls of `crypto.subtle` and on data stores' },
  maxOpenCallBytes: { default: 48 * 1024 * 1024, unit: 'bytes', scope: 'isolate', why: 'what those calls are given, together' },
  maxProcessedBytes: { default: 32 * 1024 * 1024, unit: 'bytes', scope: 'run', why: 'data given to one call of `crypto`, `zlib` or a text decoder, or to a compression stream; the process waits for it' },
  maxInflatedBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'run', why: 'what one call of `zlib`, or a decompression stream, makes of it' },
  maxCfb1StreamBytes: { default: 64 * 1024, unit: 'bytes', scope: 'run', why: 'one stream of a cipher in CFB1 mode, which encrypts a block for each bit' },
  maxCfb8StreamBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'run', why: 'one stream of a cipher in CFB8 mode, which encrypts a block for each byte' },
  maxQueuedRunsPerTenant: { default: 2_000, unit: 'count', scope: 'account', why: 'runs and loads that wait on a node for a sandbox process; runs that are to be alone in one count apart' },
  maxAloneWaitMs: { default: 900_000, unit: 'ms', scope: 'run', why: 'how long a run that is repeated alone waits for a process before it begins anew; longer than any run takes' },
  intervalGraceMs: { default: 5_000, unit: 'ms', scope: 'run', why: 'how long it goes on after its end where only intervals are left' },
  maxLoadWaitMs: { default: 60_000, unit: 'ms', scope: 'component', why: 'how long its load waits for earlier ones and for a process; then 429' },
});
