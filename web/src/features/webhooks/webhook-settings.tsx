import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { portal } from '../../app/portal.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Webhook, WholeWebhook } from './webhook-queries.ts';
import { Edited, useWebhookSaving, WebhookForm, type WebhookFormProps } from './webhook-form.tsx';
import { WebhookPace } from './webhook-pace.tsx';
import { WebhookProof } from './webhook-proof.tsx';
import { WebhookRequest } from './webhook-request.tsx';
import { WebhookTransform } from './webhook-transform.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

export function WebhookSettings({ webhook }: { webhook: WholeWebhook }) {
  return (
    <div className="flex flex-col gap-4">
      <Edited webhook={webhook} form={Details} />
      <Edited webhook={webhook} form={WebhookRequest} />
      <Edited webhook={webhook} form={WebhookPace} />
      <Edited webhook={webhook} form={WebhookProof} />
      {portal === undefined && <WebhookTransform key={`transform ${webhook.transform_id}`} webhook={webhook} />}
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

function Details(props: WebhookFormProps) {
  const { webhook } = props;
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? '');
  const [description, setDescription] = useState(webhook.description ?? '');
  const [format, setFormat] = useState(webhook.format);
  const mine = { url, name, description, format };
  const part = { ...props, partOf: detailsOf, mine, body: () => mine };
  const saving = useWebhookSaving(part);
  return (
    <WebhookForm {...part} title="Details" action="Save" saving={saving}>
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
    </WebhookForm>
  );
}

function DeleteWebhook({ webhook }: { webhook: Webhook }) {
  const { id, name, url } = webhook;
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/webhooks/{id}', { path: { id }, headers: forState(webhook) }),
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
