import type { StreamMessage } from '@headwater/client';
import { useCallback, useRef, useState } from 'react';
import { type StreamState, useEventStream } from '../../api/event-stream.ts';
import { parseExact } from '../../api/exact-json.ts';
import type { Schemas } from '../../api/client.ts';

export type LiveEvent = Schemas['EventSummary'];

/** Rows that a live list keeps; older ones are found by search. */
const MAX_KEPT = 2_000;

export interface LiveEvents {
  /** Newest first. */
  shown: LiveEvent[];
  /** Newer ones that came while the list was held. */
  waiting: number;
  state: StreamState;
  /**
   * While held, what comes waits: the reader has scrolled or selected, and nothing moves below the
   * eyes.
   */
  hold: (isHeld: boolean) => void;
  show: () => void;
}

/** The events of a stream as they come. */
export function useLiveEvents(path: string | undefined): LiveEvents {
  const [shown, setShown] = useState<LiveEvent[]>([]);
  const [waiting, setWaiting] = useState<LiveEvent[]>([]);
  const isHeld = useRef(false);
  const onMessages = useCallback((messages: StreamMessage[]) => {
    const fresh = messages.map(({ data }) => parseExact(data) as LiveEvent).reverse();
    const add = (old: LiveEvent[]) => [...fresh, ...old].slice(0, MAX_KEPT);
    if (isHeld.current) setWaiting(add);
    else setShown(add);
  }, []);
  const state = useEventStream({ path, onMessages });
  const show = useCallback(() => {
    setWaiting((fresh) => {
      setShown((old) => [...fresh, ...old.filter(({ id }) => !fresh.some((one) => one.id === id))].slice(0, MAX_KEPT));
      return [];
    });
  }, []);
  const hold = useCallback(
    (held: boolean) => {
      isHeld.current = held;
      if (!held) show();
    },
    [show],
  );
  return { shown, waiting: waiting.length, state, hold, show };
}
