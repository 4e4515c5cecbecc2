import type { ServerResponse } from 'node:http';
import { LIMITS } from '@headwater/shared';

/** Answers that are in memory until their clients have read them: as many bytes as there are clients, were they not counted. */
export interface UnreadAnswers {
  /**
   * Counts an answer from here until it was read. Beyond LIMITS.maxUnreadAnswerBytes of one account, connections of those of its clients
   * that have had theirs for longest are closed.
   */
  hold(accountId: string, response: ServerResponse, bytes: number): void;
}

export function createUnreadAnswers(maxBytes: number = LIMITS.maxUnreadAnswerBytes): UnreadAnswers {
  /** Of each account, the oldest first. */
  const accounts = new Map<string, Map<ServerResponse, number>>();

  function release(accountId: string, response: ServerResponse): void {
    const held = accounts.get(accountId);
    held?.delete(response);
    if (held?.size === 0) accounts.delete(accountId);
  }

  return {
    hold(accountId, response, bytes) {
      // Most fit into what the system takes of a connection at once. Of a client that is gone nothing more is heard.
      if (bytes <= LIMITS.smallAnswerBytes || response.socket?.destroyed !== false) return;
      const held = accounts.get(accountId) ?? new Map<ServerResponse, number>();
      accounts.set(accountId, held.set(response, bytes));
      response.once('close', () => release(accountId, response));
      let total = 0;
      for (const one of held.values()) total += one;
      for (const [oldest, size] of held) {
        if (total <= maxBytes || oldest === response) break;
        total -= size;
        oldest.destroy();
      }
    },
  };
}
