import { HeadwaterError, LIMITS } from '@headwater/shared';

/** The streams that a node has open. */
export interface OpenStreams {
  /** Throws RATE_LIMITED or UNAVAILABLE where there is no room. */
  enter(accountId: string, maxStreams: number): Place;
  count(): number;
  /** Closes all, and lets no more in. */
  end(): void;
}

interface Place {
  /** Sets the function that closes the stream when the node ends all streams. */
  closeWith(close: () => void): void;
  /** Idempotent. */
  leave(): void;
}

export function createOpenStreams(): OpenStreams {
  const places = new Map<Place, { accountId: string; close: () => void }>();
  let isEnding = false;

  function checkRoom(accountId: string, maxStreams: number): void {
    if (isEnding) throw nodeStops();
    const ofAccount = [...places.values()].filter((place) => place.accountId === accountId).length;
    if (ofAccount >= maxStreams) {
      throw new HeadwaterError(
        'RATE_LIMITED',
        `The account has ${ofAccount} streams open: its limit is ${maxStreams}`,
        {
          limit: { name: 'maxStreams', value: maxStreams, used: ofAccount + 1 },
          retryAfterSeconds: RETRY_SECONDS,
        },
      );
    }
    if (places.size < LIMITS.maxStreams) return;
    throw new HeadwaterError('UNAVAILABLE', 'This node has as many streams open as it can', {
      limit: { name: 'maxStreams', value: LIMITS.maxStreams, used: places.size + 1 },
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  return {
    enter(accountId, maxStreams) {
      checkRoom(accountId, maxStreams);
      const place: Place = {
        closeWith(close) {
          places.set(place, { accountId, close });
          if (isEnding) close();
        },
        leave: () => void places.delete(place),
      };
      places.set(place, { accountId, close: () => undefined });
      return place;
    },
    count: () => places.size,
    end() {
      isEnding = true;
      for (const { close } of places.values()) close();
    },
  };
}

export const nodeStops = () => new HeadwaterError('UNAVAILABLE', 'This node stops; connect again');

const RETRY_SECONDS = 5;
