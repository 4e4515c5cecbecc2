/** An account with its configuration and history as NDJSON, for another instance. */
export interface Archives {
  /**
   * The archive in pieces of whole lines, as of one moment. Nothing is read before the first piece
   * is asked for; leaving it early ends what it holds. Throws NOT_FOUND, CONFLICT, INVALID_REQUEST
   * for a passphrase that is too short. `withHistory`, default true: also events, runs, executions,
   * deliveries, and everything that waits.
   */
  export(accountId: string, passphrase: string, options?: { withHistory?: boolean }): AsyncGenerator<Buffer, undefined>;
  /**
   * Makes the account of the archive in a file, suspended, or nothing at all. Answers its id.
   * Throws INVALID_REQUEST for what is no whole archive or a wrong passphrase, and CONFLICT where
   * it, or something of it, is here, or does not fit.
   */
  import(file: string, passphrase: string): Promise<string>;
}
