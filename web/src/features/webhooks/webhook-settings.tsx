import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Webhook } from './webhook-queries.ts';

export function WebhookSettings({ webhook }: { webhook: Webhook }) {
  return (
    <div key={webhook.updated_at} className="flex flex-col gap-4">
      <Details webhook={webhook} />
      <DeleteWebhook webhook={webhook} />
    </div>
  );
}

function Details({ webhook }: { webhook: Webhook }) {
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? '');
  const [description, setDescription] = useState(webhook.description ?? '');
  const [format, setFormat] = useState(webhook.format);
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: () => {
      const params = { path: { id: webhook.id } };
      return ask(api.PUT('/v1/webhooks/{id}', { params, body: { url, name, description, format } }));
    },
    onSuccess: ({ data }) => {
      queries.setQueryData(['webhook', webhook.id], data);
      return queries.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <Panel title="Details">
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4 p-4">
        <TextField
          label="URL"
          type="url"
          required
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          errors={messagesFor(saving.error, 'url')}
        />
        <TextField
          label="Name"
          optional
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(saving.error, 'name')}
        />
        <TextField
          label="Description"
          optional
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          errors={messagesFor(saving.error, 'description')}
        />
        <Field
          label="Format"
          description="Raw sends the event as it was emitted; envelope puts it beside its type and time."
        >
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={format}
              onChange={({ target }) => setFormat(target.value as Webhook['format'])}
            >
              <option value="raw">raw</option>
              <option value="envelope">envelope</option>
            </select>
          )}
        </Field>
        <ProblemNote error={saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending}>
          Save
        </Button>
      </form>
    </Panel>
  );
}

function DeleteWebhook({ webhook: { id, name, url } }: { webhook: Webhook }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => ask(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      await navigate({ to: '/webhooks' });
    },
  });
  return (
    <Panel title="Delete">
      <div className="flex items-center justify-between gap-4 p-4 text-sm text-ink-soft">
        Its subscriptions and deliveries go with it. Deliveries that wait are cancelled.
        <Button kind="danger" onClick={() => setAsking(true)}>
          Delete webhook
        </Button>
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete webhook ${name ?? url}?`}
        action="Delete"
        busy={deleting.isPending}
        onConfirm={() => deleting.mutate()}
      >
        Its subscriptions and deliveries go with it. Deliveries that wait are cancelled.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </Panel>
  );
}
