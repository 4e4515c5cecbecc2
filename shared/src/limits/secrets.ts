/** Secrets of an account: secret props, environment variables, and what may not leave a run. */
export const SECRET_LIMITS = {
  /**
   * All secret props of one source together, as JSON: whatever its runs put out is searched for
   * them.
   */
  maxSecretPropsBytes: 64 * 1024,
  /**
   * What may not leave one run: its secret props, the secrets of its connected accounts and the
   * environment variables that it reads, together.
   */
  maxRunSecretBytes: 256 * 1024,
  /**
   * The forms of secrets that runs are searched for, which one node keeps for the next runs of the
   * same.
   */
  maxCachedRedactorBytes: 64 * 1024 * 1024,
  /** An environment variable. */
  maxEnvironmentNameChars: 128,
  maxEnvironmentValueBytes: 64 * 1024,
  /** Values of environment variables that one node keeps in memory, opened. */
  maxCachedEnvironmentBytes: 32 * 1024 * 1024,
} as const;
