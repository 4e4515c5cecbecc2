import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { messagesBelow } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Subscription } from './webhook-queries.ts';

const EXAMPLE = '{"order.total":{"$gte":100}}';

/**
 * JSON of a filter as it is typed. What is no JSON is sent as it is: the server says what is wrong.
 */
export function readFilterText(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return text as unknown as Record<string, unknown>;
  }
}

export function FilterField({
  value,
  onChange,
  error,
}: {
  value: string;
  onChange: (text: string) => void;
  error: unknown;
}) {
  return (
    <TextField
      label="Filter"
      optional
      value={value}
      onChange={({ target }) => onChange(target.value)}
      placeholder={EXAMPLE}
      className="font-mono text-xs"
      errors={messagesBelow(error, 'filter')}
    />
  );
}

/** The filter of a subscription, and a dialog that changes it. */
export function SubscriptionFilter({ subscription }: { subscription: Subscription }) {
  const { id, filter } = subscription;
  const now = filter === null ? '' : JSON.stringify(filter);
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(now);
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: () =>
      ask(api.PUT('/v1/subscriptions/{id}', { params: { path: { id } }, body: { filter: readFilterText(text) } })),
    onSuccess: async () => {
      setOpen(false);
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  const open = () => {
    setText(now);
    saving.reset();
    setOpen(true);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        onClick={open}
        title={now}
        aria-label={now === '' ? 'Filter: every event' : `Filter ${now}`}
      >
        <span className="max-w-56 truncate font-mono text-xs">{now === '' ? 'every event' : now}</span>
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Filter"
        description="Only events whose data match are sent. Empty: every event. It holds for events from now on."
      >
        <form onSubmit={submit} className="flex flex-col gap-4">
          <FilterField value={text} onChange={setText} error={saving.error} />
          <ProblemNote error={saving.error} />
          <div className="flex justify-end gap-2">
            <Button type="submit" kind="primary" busy={saving.isPending}>
              Save filter
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
