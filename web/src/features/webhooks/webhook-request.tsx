import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, askTagged, forState } from '../../api/client.ts';
import { messagesBelow, messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

/**
 * Headers, timeout and retries of a webhook's requests. What is left empty is as the server does
 * it.
 */
export function WebhookRequest({ webhook }: { webhook: WholeWebhook }) {
  const [headers, setHeaders] = useState(linesOf(webhook.headers));
  const [schedule, setSchedule] = useState(webhook.retry_schedule_seconds?.join(', ') ?? '');
  const [timeout, setTimeout] = useState(webhook.timeout_seconds?.toString() ?? '');
  const [disableAfter, setDisableAfter] = useState(webhook.disable_after_hours?.toString() ?? '');
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: () =>
      askTagged<WholeWebhook>(
        api.PUT('/v1/webhooks/{id}', {
          params: { path: { id: webhook.id }, ...forState(webhook) },
          body: {
            headers: headersOf(headers),
            retry_schedule_seconds: schedule.trim() === '' ? null : schedule.split(',').map(Number),
            timeout_seconds: timeout === '' ? null : Number(timeout),
            disable_after_hours: disableAfter === '' ? null : Number(disableAfter),
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
    <Panel title="Requests">
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4 p-4">
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
        <ProblemNote error={saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending}>
          Save requests
        </Button>
      </form>
    </Panel>
  );
}

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
