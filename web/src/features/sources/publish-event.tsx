import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { hwLine, textOrJson } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Source } from './source-queries.ts';

interface PublishDialogProps {
  source: Source;
  /** Parts of an earlier event. Default: none. */
  given?: { data: string; channel: string; summary: string | null };
  onClose: () => void;
}

/** An event that the user writes, as one of the source; its code does not run. */
export function PublishDialog({ source, given, onClose }: PublishDialogProps) {
  const [text, setText] = useState(given?.data ?? '{}');
  const [channel, setChannel] = useState(given?.channel ?? '');
  const [id, setId] = useState('');
  const summary = given?.summary ?? null;
  const naming = {
    ...(channel === '' ? {} : { event_name: channel }),
    ...(id === '' ? {} : { id }),
    ...(summary === null ? {} : { summary }),
  };
  const publishing = useMutation({
    mutationFn: () => {
      const body = { data: parseExact(text), ...naming };
      return api.post('/v1/sources/{id}/events', { path: { id: source.id }, body });
    },
    onSuccess: ({ data }) => {
      if (data.events.every(({ duplicate }) => !duplicate)) onClose();
    },
  });
  const known = publishing.data?.data.events.find(({ duplicate }) => duplicate);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    publishing.mutate();
  };
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={given === undefined ? 'Publish an event' : 'Emit the event again'}
      description={`As one of ${source.name}, to whatever is subscribed. Its code does not run.`}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-3">
        <CodeView value={text} label="Data" language="json" onChange={setText} />
        <TextField label="Channel" optional value={channel} onChange={({ target }) => setChannel(target.value)} />
        <TextField
          label="Id"
          optional
          value={id}
          onChange={({ target }) => setId(target.value)}
          description="Published again within a day, the event is a duplicate."
        />
        {known !== undefined && (
          <p role="status" className="text-sm">
            This id is known: it is the event {known.id}, and nothing new was stored.
          </p>
        )}
        <ProblemNote error={publishing.error} />
        <div className="flex justify-end gap-2">
          <CopyMenu
            command={{
              method: 'POST',
              path: `/v1/sources/${source.id}/events`,
              body: { data: textOrJson(text), ...naming },
              hw: hwLine(['events', 'publish', source.id], { data: text, channel, id, summary: summary ?? '' }),
            }}
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={publishing.isPending}>
            Publish
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
