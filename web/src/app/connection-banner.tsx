import { useEffect, useState } from 'react';
import { publicUrl } from '../api/base-url.ts';
import { onConnectionLost, useRateLimitEnd } from '../api/connection.ts';
import { queryClient } from './queries.ts';

const PROBE_MS = 1_500;

/**
 * Says that the server is away, asks until it is back, and then fetches anew what the page shows.
 */
export function ConnectionBanner() {
  const [isAway, setAway] = useState(false);
  useEffect(() => onConnectionLost(() => setAway(true)), []);
  useEffect(() => {
    if (!isAway) return undefined;
    const probe = setInterval(() => {
      void fetch(publicUrl('/healthz')).then(
        ({ ok }) => {
          if (!ok) return;
          setAway(false);
          void queryClient.invalidateQueries();
        },
        () => undefined,
      );
    }, PROBE_MS);
    return () => clearInterval(probe);
  }, [isAway]);
  return (
    <div role="status" aria-live="polite">
      {isAway && (
        <p className="border-b border-warn/30 bg-warn-soft px-4 py-2 text-sm text-ink">
          The server does not answer. What you see may be old; this page goes on by itself when it is back.
        </p>
      )}
    </div>
  );
}

/** Short waits come one after the other: the note between them stays. */
const MIN_SHOWN_MS = 2_000;

/** Says that requests wait for their rate. It lies over the page, so that nothing moves. */
export function RateNote() {
  const endMs = useRateLimitEnd();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const leftMs = endMs - Date.now();
    if (leftMs <= 0) return undefined;
    setShown(true);
    const timer = setTimeout(() => setShown(false), Math.max(leftMs, MIN_SHOWN_MS));
    return () => clearTimeout(timer);
  }, [endMs]);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 bottom-4 z-60 flex justify-center">
      {isShown && (
        <p className="rounded-md border border-warn/30 bg-warn-soft px-3 py-2 text-sm text-ink shadow-popup">
          This account makes more requests than its limit allows. The page waits and goes on by itself.
        </p>
      )}
    </div>
  );
}
