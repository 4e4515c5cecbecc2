/** A request that names itself, so that it can be sent again. */
export interface KeyedRequest {
  /** '' is the operator. */
  accountId: string;
  key: string;
  /** A hash of method, path and body: a key belongs to one request. */
  fingerprint: Uint8Array;
}

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** Undefined: without a body. */
  text?: string;
}

export interface ClaimedKey extends KeyedRequest {
  claimId: string;
}

export type KeyOutcome = { kind: 'begun'; claim: ClaimedKey } | { kind: 'answered'; answer: KeptAnswer };

/**
 * A key is claimed, durably, before its request is carried out, and the answer is stored before it
 * is sent. So a request is carried out once at most: where its node ends in between, its outcome is
 * unknown, and its key says so.
 */
export interface Idempotency {
  /**
   * Throws KEY_REUSED if the key was used for another request. Throws CONFLICT while the request is
   * under way (with a retry time). Throws CONFLICT also if its outcome is unknown, or its answer
   * was too large to keep. Throws RATE_LIMITED if the account has too many keys.
   */
  begin(request: KeyedRequest): Promise<KeyOutcome>;
  /** The same request is answered in the same way from now on. */
  end(claim: ClaimedKey, answer: KeptAnswer): Promise<void>;
  /** Nothing was done: the key is free again. */
  release(claim: ClaimedKey): Promise<void>;
}
