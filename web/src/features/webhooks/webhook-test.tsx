import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';

/** Sends a signed sample at once, and shows what came of it. */
export function SendTest({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const testing = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/test', { path: { id }, body: {} }),
  });
  const start = () => {
    setOpen(true);
    testing.mutate();
  };
  const result = testing.data?.data;
  return (
    <>
      <Button needs="change" busy={testing.isPending} onClick={start}>
        <Icon name="play" />
        Send a test
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="A signed test request"
        description="It is sent once, whether or not the webhook is subscribed or active."
      >
        <div role="status" className="flex flex-col gap-3 text-sm">
          {testing.isPending && <p className="text-ink-soft">Waiting for the receiver …</p>}
          {result !== undefined && (
            <>
              <p className="flex items-center gap-2">
                <Status of={result.delivered ? 'delivered' : 'failed'} />
                {result.attempt.status_code ?? result.attempt.error} in {Math.round(result.attempt.duration_ms)} ms
              </p>
              {result.attempt.response !== null && (
                <pre
                  tabIndex={0}
                  aria-label="What the receiver answered"
                  className="max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
                >
                  {result.attempt.response}
                </pre>
              )}
            </>
          )}
          <ProblemNote error={testing.error} />
        </div>
      </Dialog>
    </>
  );
}

/** After an outage: what waits for its next attempt is due at once. */
export function RetryNow({ id }: { id: string }) {
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/retry', { path: { id }, body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['deliveries', id] }),
  });
  const count = retrying.data?.data.count;
  return (
    <>
      <Button needs="change" busy={retrying.isPending} onClick={() => retrying.mutate()}>
        Retry now
      </Button>
      <span role="status" className={count === undefined ? 'sr-only' : 'text-xs text-ink-soft'}>
        {count === undefined ? '' : count === 1 ? '1 delivery is due now' : `${count} deliveries are due now`}
      </span>
      <ProblemNote error={retrying.error} />
    </>
  );
}
