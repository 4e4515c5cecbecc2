import { useEffect, useState } from 'react';
import { publicUrl } from '../api/base-url.ts';
import { onConnectionLost } from '../api/connection.ts';
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
