import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask, askTagged, forState } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Webhook, WholeWebhook } from './webhook-queries.ts';
import { WebhookPace } from './webhook-pace.tsx';
import { WebhookProof } from './webhook-proof.tsx';
import { WebhookRequest } from './webhook-request.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

export function WebhookSettings({ webhook }: { webhook: WholeWebhook }) {
  // What is being edited stays as it is when somebody else changes the webhook: the save then shows
  // both.
  const [base, setBase] = useState(webhook);
  return (
    <div className="flex flex-col gap-4">
      <Details key={base.etag} webhook={base} onSaved={setBase} />
      <WebhookRequest key={webhook.etag} webhook={webhook} />
      <WebhookPace key={`pace ${webhook.etag}`} webhook={webhook} />
      <WebhookProof key={`proof ${webhook.etag}`} webhook={webhook} />
      <WebhookSecret webhook={webhook} />
      <DeleteWebhook webhook={webhook} />
    </div>
  );
}

const detailsOf = ({ url, name, description, format }: Webhook) => ({
  url,
  name: name ?? '',
  description: description ?? '',
  format,
});

function Details({ webhook, onSaved }: { webhook: WholeWebhook; onSaved: (webhook: WholeWebhook) => void }) {
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? '');
  const [description, setDescription] = useState(webhook.description ?? '');
  const [format, setFormat] = useState(webhook.format);
  const queries = useQueryClient();
  const take = (now: WholeWebhook) => {
    onSaved(now);
    queries.setQueryData(['webhook', webhook.id], now);
    return queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  const body = { url, name, description, format };
  const saving = useMutation({
    mutationFn: (over: WholeWebhook) =>
      askTagged<WholeWebhook>(
        api.PUT('/v1/webhooks/{id}', { params: { path: { id: webhook.id }, ...forState(over) }, body }),
      ),
    onSuccess: take,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(webhook);
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
          description="Raw sends the event as it was emitted; envelope and CloudEvents 1.0 put it beside its type and time."
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
              <option value="cloudevents">CloudEvents, structured</option>
              <option value="cloudevents-binary">CloudEvents, binary</option>
            </select>
          )}
        </Field>
        <ProblemNote error={isConflict(saving.error) ? null : saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending}>
          Save
        </Button>
      </form>
      {isConflict(saving.error) && (
        <Conflict<WholeWebhook>
          mine={JSON.stringify(body, null, 2)}
          textOf={(theirs) => JSON.stringify(detailsOf(theirs), null, 2)}
          language="json"
          read={() => askTagged<WholeWebhook>(api.GET('/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }))}
          busy={saving.isPending}
          onClose={() => saving.reset()}
          onTakeTheirs={(theirs) => void take(theirs)}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </Panel>
  );
}

function DeleteWebhook({ webhook }: { webhook: Webhook }) {
  const { id, name, url } = webhook;
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => ask(api.DELETE('/v1/webhooks/{id}', { params: { path: { id }, ...forState(webhook) } })),
    onError: () => queries.invalidateQueries({ queryKey: ['webhook', id] }),
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
