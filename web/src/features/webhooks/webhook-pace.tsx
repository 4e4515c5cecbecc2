import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, askTagged, forState } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

/** In which order, and how fast, deliveries are sent. What is left empty is as the account may. */
export function WebhookPace({ webhook }: { webhook: WholeWebhook }) {
  const [ordering, setOrdering] = useState(webhook.ordering);
  const [key, setKey] = useState(webhook.ordering_key ?? '');
  const [rate, setRate] = useState(webhook.rate_per_second?.toString() ?? '');
  const [inFlight, setInFlight] = useState(webhook.max_in_flight?.toString() ?? '');
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: () =>
      askTagged<WholeWebhook>(
        api.PUT('/v1/webhooks/{id}', {
          params: { path: { id: webhook.id }, ...forState(webhook) },
          body: {
            ordering,
            ordering_key: ordering === 'none' || key.trim() === '' ? null : key.trim(),
            rate_per_second: rate === '' ? null : Number(rate),
            max_in_flight: inFlight === '' ? null : Number(inFlight),
          },
        }),
      ),
    onSuccess: (now) => queries.setQueryData(['webhook', webhook.id], now),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <Panel title="Order and rate">
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4 p-4">
        <Field
          label="Order"
          description="In order, the next delivery is sent once the one before has succeeded, is exhausted or was skipped."
        >
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={ordering}
              onChange={({ target }) => setOrdering(target.value as WholeWebhook['ordering'])}
            >
              <option value="none">none</option>
              <option value="fifo">in order</option>
            </select>
          )}
        </Field>
        {ordering === 'fifo' && (
          <TextField
            label="Ordering key"
            optional
            description="A path in the event: only deliveries with the same value there wait for each other."
            placeholder="order.id"
            value={key}
            onChange={({ target }) => setKey(target.value)}
            errors={messagesFor(saving.error, 'ordering_key')}
          />
        )}
        <TextField
          label="Attempts a second"
          optional
          type="number"
          min={1}
          max={10_000}
          value={rate}
          onChange={({ target }) => setRate(target.value)}
          errors={messagesFor(saving.error, 'rate_per_second')}
        />
        <TextField
          label="Attempts at the same time"
          optional
          type="number"
          min={1}
          max={1_024}
          value={inFlight}
          onChange={({ target }) => setInFlight(target.value)}
          errors={messagesFor(saving.error, 'max_in_flight')}
        />
        <ProblemNote error={saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending}>
          Save order and rate
        </Button>
      </form>
    </Panel>
  );
}
