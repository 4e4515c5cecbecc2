import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { hwLine } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

interface CreateWebhookProps {
  /** The URL to begin with. Default: none. */
  given?: string | undefined;
  onClose: () => void;
}

export function CreateWebhook({ given = '', onClose }: CreateWebhookProps) {
  const [url, setUrl] = useState(given);
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const body = { url, ...(name === '' ? {} : { name }) };
  const creating = useMutation({
    mutationFn: () => api.post('/v1/webhooks', { body }),
    onSuccess: async ({ data }) => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      await navigate({ to: '/webhooks/$id', params: { id: data.id } });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="New webhook"
      description="The events that you subscribe it to are sent to this URL, signed."
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="URL"
          type="url"
          required
          value={url}
          onChange={(event) => setUrl(event.target.value)}
          errors={messagesFor(creating.error, 'url')}
          placeholder="https://example.com/hooks"
          autoFocus
        />
        <TextField
          label="Name"
          optional
          value={name}
          onChange={(event) => setName(event.target.value)}
          errors={messagesFor(creating.error, 'name')}
        />
        <ProblemNote error={creating.error} />
        <div className="flex justify-end gap-2">
          <CopyMenu
            command={{ method: 'POST', path: '/v1/webhooks', body, hw: hwLine(['webhooks', 'create', url], { name }) }}
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={creating.isPending}>
            Create webhook
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
