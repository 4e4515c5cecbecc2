import { defineLimits } from './define-limits.ts';

/** Secrets of an account: secret props, environment variables, and what may not leave a run. */
// biome-ignore format: one limit a line
export const SECRET_LIMITS = defineLimits({
  maxSecretPropsBytes: { default: 64 * 1024, unit: 'bytes', scope: 'source', why: 'values of all secret props together, as JSON; all output is searched for them' },
  maxRunSecretBytes: { default: 256 * 1024, unit: 'bytes', scope: 'run', why: 'secret props, secrets of connected accounts and environment variables; equal values count once' },
  maxCachedRedactorBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'forms of secrets that are kept for the next runs that are searched for them' },
  maxEnvironmentNameChars: { default: 128, unit: 'characters', scope: 'environment variable', why: 'its name' },
  maxEnvironmentValueBytes: { default: 64 * 1024, unit: 'bytes', scope: 'environment variable', why: 'its value' },
  maxCachedEnvironmentBytes: { default: 32 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'opened values of environment variables in memory' },
});
