import { useState } from 'react';
import { messagesBelow, messagesFor } from '../../api/problem.ts';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { useWebhookSaving, WebhookForm, type WebhookFormProps } from './webhook-form.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

/**
 * Headers, timeout and retries of a webhook's requests. Empty fields mean the server's defaults.
 */
export function WebhookRequest(props: WebhookFormProps) {
  const { webhook } = props;
  const [headers, setHeaders] = useState(linesOf(webhook.headers));
  const [schedule, setSchedule] = useState(webhook.retry_schedule_seconds?.join(', ') ?? '');
  const [timeout, setTimeout] = useState(webhook.timeout_seconds?.toString() ?? '');
  const [disableAfter, setDisableAfter] = useState(webhook.disable_after_hours?.toString() ?? '');
  const [failuresOver, setFailuresOver] = useState(webhook.disable_failures_over_hours?.toString() ?? '');
  const mine = {
    headers: headersOf(headers),
    retry_schedule_seconds: schedule.trim() === '' ? null : schedule.split(',').map(Number),
    timeout_seconds: timeout === '' ? null : Number(timeout),
    disable_after_hours: disableAfter === '' ? null : Number(disableAfter),
    disable_failures_over_hours: failuresOver === '' ? null : Number(failuresOver),
  };
  const part = { ...props, partOf: requestOf, mine, body: () => mine };
  const saving = useWebhookSaving(part);
  return (
    <WebhookForm {...part} title="Requests" action="Save requests" saving={saving}>
      <Field
        label="Headers"
        optional
        description="One a line: authorization: Bearer 6f1c. They are stored encrypted."
        errors={messagesBelow(saving.error, 'headers')}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            className={`${INPUT_CLASS} font-mono text-xs`}
            value={headers}
            onChange={({ target }) => setHeaders(target.value)}
          />
        )}
      </Field>
      <TextField
        label="Retry schedule"
        optional
        description="Seconds after the first, second, … failed attempt, separated by commas."
        placeholder="5, 300, 1800, 7200, 18000, 36000, 36000"
        value={schedule}
        onChange={({ target }) => setSchedule(target.value)}
        errors={messagesBelow(saving.error, 'retry_schedule_seconds')}
      />
      <TextField
        label="Timeout in seconds"
        optional
        type="number"
        min={1}
        max={30}
        placeholder="15"
        value={timeout}
        onChange={({ target }) => setTimeout(target.value)}
        errors={messagesFor(saving.error, 'timeout_seconds')}
      />
      <TextField
        label="Disable after hours of failures"
        optional
        description="Events are then held until it is activated. 0: never."
        type="number"
        min={0}
        max={8760}
        placeholder="120"
        value={disableAfter}
        onChange={({ target }) => setDisableAfter(target.value)}
        errors={messagesFor(saving.error, 'disable_after_hours')}
      />
      <TextField
        label="Failures must go on for hours"
        optional
        description="Failures with a day between them do not disable it. 0: one is enough."
        type="number"
        min={0}
        max={168}
        placeholder="12"
        value={failuresOver}
        onChange={({ target }) => setFailuresOver(target.value)}
        errors={messagesFor(saving.error, 'disable_failures_over_hours')}
      />
    </WebhookForm>
  );
}

const requestOf = (webhook: WholeWebhook) => ({
  headers: webhook.headers,
  retry_schedule_seconds: webhook.retry_schedule_seconds,
  timeout_seconds: webhook.timeout_seconds,
  disable_after_hours: webhook.disable_after_hours,
  disable_failures_over_hours: webhook.disable_failures_over_hours,
});

function linesOf(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** A line without a colon is a name without a value, which the server refuses by its name. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()];
    }),
  );
}
