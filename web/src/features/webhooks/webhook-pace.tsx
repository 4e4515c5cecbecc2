import { useState } from 'react';
import { messagesFor } from '../../api/problem.ts';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { useWebhookSaving, WebhookForm, type WebhookFormProps } from './webhook-form.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

/** Order and rate of deliveries. Empty fields mean the account's limits. */
export function WebhookPace(props: WebhookFormProps) {
  const { webhook } = props;
  const [ordering, setOrdering] = useState(webhook.ordering);
  const [key, setKey] = useState(webhook.ordering_key ?? '');
  const [rate, setRate] = useState(webhook.rate_per_second?.toString() ?? '');
  const [inFlight, setInFlight] = useState(webhook.max_in_flight?.toString() ?? '');
  const [adaptive, setAdaptive] = useState(webhook.adaptive_rate);
  const mine = {
    ordering,
    ordering_key: ordering === 'none' || key.trim() === '' ? null : key.trim(),
    rate_per_second: rate === '' ? null : Number(rate),
    max_in_flight: inFlight === '' ? null : Number(inFlight),
    adaptive_rate: adaptive,
  };
  const part = { ...props, partOf: paceOf, mine, body: () => mine };
  const saving = useWebhookSaving(part);
  return (
    <WebhookForm {...part} title="Order and rate" action="Save order and rate" saving={saving}>
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
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={adaptive}
          onChange={({ target }) => setAdaptive(target.checked)}
        />
        Fewer attempts a second while the receiver cannot follow
      </label>
    </WebhookForm>
  );
}

const paceOf = ({ ordering, ordering_key, rate_per_second, max_in_flight, adaptive_rate }: WholeWebhook) => ({
  ordering,
  ordering_key,
  rate_per_second,
  max_in_flight,
  adaptive_rate,
});
