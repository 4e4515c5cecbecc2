import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Subscription } from './webhook-queries.ts';

interface UnsubscribeProps {
  subscription: Subscription;
  /** The names of both ends. */
  emitter: string;
  listener: string;
  /** The accessible name of the button in its row. */
  label: string;
}

/** Ends a subscription, once the reader has seen what no longer arrives. */
export function Unsubscribe({ subscription, emitter, listener, label }: UnsubscribeProps) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const { emitter_id, listener_id, event_name, filter } = subscription;
  const ending = useMutation({
    mutationFn: () => api.delete('/v1/subscriptions', { body: { emitter_id, listener_id, event_name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  return (
    <>
      <Button kind="quiet" size="small" needs="change" aria-label={label} onClick={() => setAsking(true)}>
        <Icon name="cross" />
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Unsubscribe ${listener} from ${emitter}?`}
        action="Unsubscribe"
        busy={ending.isPending}
        onConfirm={() => ending.mutate()}
      >
        {event_name === '' ? 'Events' : `Events of the channel ${event_name}`} that {emitter} emits from then on do not
        reach {listener}. What is queued for it already still arrives.
        {filter !== null && ' The filter of the subscription goes with it.'}
        <ProblemNote error={ending.error} />
      </Confirm>
    </>
  );
}
