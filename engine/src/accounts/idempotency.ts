import { HeadwaterError, LIMITS, platformLimit, randomToken } from '@headwater/shared';
import type { ClaimedKey, Idempotency, KeyedRequest, KeyOutcome } from '../contract/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { Sql } from '../db/index.ts';
import {
  claimKeyOfRequest,
  type KeyRow,
  readKeyOfRequest,
  releaseKeyOfRequest,
  storeKeyAnswer,
} from './idempotency-keys.sql.ts';
import { createKeyRoom } from './key-room.ts';

export interface IdempotencyOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'seal' | 'open'>;
  nodeId: () => string;
  nowMs: () => number;
}

const CLAIM_CHARS = 16;
const IN_PROGRESS_RETRY_SECONDS = 2;

/**
 * States of a key: free → claimed by a node (a row without a status) → answered. A claim is
 * released only if the request did nothing. The claim of a dead node stays, because nothing tells
 * how far its request came. A key is forgotten after a day.
 */
export function createIdempotency({ sql, sealer, nodeId, nowMs }: IdempotencyOptions): Idempotency {
  const room = createKeyRoom(sql, nowMs);

  function outcomeOf(request: KeyedRequest, row: KeyRow): KeyOutcome {
    if (!row.fingerprint.equals(request.fingerprint)) throw reused();
    const { status, answer } = row;
    if (status === null) throw row.is_held ? inProgress() : unknownOutcome();
    if (answer === null && row.answer_bytes > 0) throw answerTooLarge(row.answer_bytes);
    const kept = { status, headers: row.headers ?? {} };
    if (answer === null) return { kind: 'answered', answer: kept };
    return { kind: 'answered', answer: { ...kept, text: sealer.open(request.accountId, answer) } };
  }

  return {
    async begin(request) {
      for (;;) {
        const before = await readKeyOfRequest(sql, request);
        if (before === undefined) await room.require(request.accountId);
        else return outcomeOf(request, before);
        const claim: ClaimedKey = { ...request, claimId: randomToken(CLAIM_CHARS) };
        if (await claimKeyOfRequest(sql, claim, nodeId())) return { kind: 'begun', claim };
        // Another request claimed the key first: read its outcome.
      }
    },
    async end(claim, { status, headers, text }) {
      const bytes = text === undefined ? 0 : Buffer.byteLength(text);
      const isKept = text !== undefined && bytes <= LIMITS.maxKeptAnswerBytes;
      const sealed = isKept ? sealer.seal(claim.accountId, text) : null;
      await storeKeyAnswer(sql, claim, { status, headers, sealed, bytes });
      room.add(claim.accountId, isKept ? bytes : 0);
    },
    release: (claim) => releaseKeyOfRequest(sql, claim),
  };
}

function reused(): HeadwaterError {
  const message = 'This Idempotency-Key was sent with another path or body; a new request takes a new key';
  return new HeadwaterError('KEY_REUSED', message);
}

function inProgress(): HeadwaterError {
  const message = 'The request with this Idempotency-Key is under way; send it again for its answer';
  return new HeadwaterError('CONFLICT', message, { retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS });
}

function unknownOutcome(): HeadwaterError {
  const message =
    'The server ended while it carried out the request with this Idempotency-Key, so the outcome is unknown. Check whether it took effect; if not, send it with a new key';
  return new HeadwaterError('CONFLICT', message);
}

function answerTooLarge(bytes: number): HeadwaterError {
  const message = 'The request with this Idempotency-Key was carried out. Its answer was too large to be kept';
  return new HeadwaterError('CONFLICT', message, { limit: platformLimit('maxKeptAnswerBytes', bytes) });
}
