import type { IncomingMessage } from 'node:http';
import { LIMITS } from '@headwater/shared';
import { bearerKey } from './bearer-key.ts';
import { createEntryPacer, createEntryPacers, type EntryPacer, type EntryPace, REST_PACE } from './entry-pacer.ts';

export interface RequestTurnsOptions {
  /** Whether requests with it wait for those with the same key only. Default: for no key. */
  isKnownKey?: (apiKey: string) => boolean;
  /**
   * Whether requests of several accounts arrive: otherwise those with a known key wait for none.
   * Default: they do.
   */
  hasOthers?: () => boolean;
  /** Default: REST_PACE. */
  pace?: EntryPace;
}

/** When it is the turn of a request to the REST API: see Door. */
export function createRequestTurns({ isKnownKey, hasOthers = () => true, pace = REST_PACE }: RequestTurnsOptions) {
  const [strangers, known] = [createEntryPacer(pace), createEntryPacers(pace)];
  return ({ url = '', headers }: IncomingMessage): ReturnType<EntryPacer> => {
    // A crowd must not have the node taken for dead.
    if (/^\/(?:healthz|readyz|livez)(?:\?|$)/.test(url)) return undefined;
    const key = bearerKey(headers.authorization);
    if (key === undefined || key.length > LIMITS.maxIdChars || isKnownKey?.(key) !== true) return strangers();
    return hasOthers() ? known(key) : undefined;
  };
}
