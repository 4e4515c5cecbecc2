import type { ServerResponse } from 'node:http';
import { LIMITS } from '@headwater/shared';
import { createClientBytes } from './client-bytes.ts';

/**
 * Answers that are in memory until their clients have read them: as many bytes as there are
 * clients, were they not counted.
 */
export interface UnreadAnswers {
  /**
   * Counts an answer from here until it was read. Beyond LIMITS.maxUnreadAnswerBytes of one
   * account, connections of those of its clients that have had theirs for longest are closed.
   */
  hold(accountId: string, response: ServerResponse, bytes: number): void;
}

export function createUnreadAnswers(): UnreadAnswers {
  const held = createClientBytes(LIMITS.maxUnreadAnswerBytes);
  return {
    hold(accountId, response, bytes) {
      // Most fit into what the system takes of a connection at once. Of a client that is gone
      // nothing more is heard.
      if (bytes <= LIMITS.smallAnswerBytes || response.socket?.destroyed !== false) return;
      const answer = held.hold(accountId, () => response.destroy());
      response.once('close', answer.end);
      answer.add(bytes);
    },
  };
}
