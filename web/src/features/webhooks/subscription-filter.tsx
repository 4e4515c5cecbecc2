import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, forState, type Tagged } from '../../api/client.ts';
import { messagesBelow } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { hwLine } from '../../ui/command.ts';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { Actions, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import type { Subscription } from './webhook-queries.ts';

const EXAMPLE = '{"order.total":{"$gte":100}}';

/**
 * JSON of a filter as the user types it. Invalid JSON is sent as text, so that the server reports
 * the error.
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

/** For the terminal: a listener gets events of an emitter. */
export function subscriptionCommand(ends: { emitter: string; listener: string }, channel: string, filter: string) {
  const { emitter, listener } = ends;
  const body = {
    emitter_id: emitter,
    listener_id: listener,
    event_name: channel,
    ...(filter === '' ? {} : { filter: readFilterText(filter) }),
  };
  const hw = hwLine(['subscriptions', 'create', emitter, listener], { channel, filter });
  return { method: 'POST' as const, path: '/v1/subscriptions', body, hw };
}

const textOf = ({ filter }: Pick<Subscription, 'filter'>) => (filter === null ? '' : JSON.stringify(filter));

const readSubscription = (id: string) => api.tagged('get', '/v1/subscriptions/{id}', { path: { id } });

/** The filter of a subscription, and a dialog that changes it. */
export function SubscriptionFilter({ subscription }: { subscription: Subscription }) {
  const now = textOf(subscription);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        className="-ml-2"
        onClick={() => setOpen(true)}
        title={now}
        aria-label={now === '' ? 'Filter: every event' : `Filter ${now}`}
      >
        {now === '' ? 'every event' : <span className="max-w-56 truncate font-mono">{now}</span>}
      </Button>
      {isOpen && <FilterDialog id={subscription.id} onClose={() => setOpen(false)} />}
    </>
  );
}

/** It is changed only where it is as it was when the dialog read it. */
function FilterDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useQuery({
    queryKey: ['subscription', id],
    queryFn: () => readSubscription(id),
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Filter"
      description="Only events whose data match are sent. Empty: every event. It holds for events from now on."
    >
      <ProblemNote error={read.error} />
      {read.isPending && <SkeletonRows rows={2} />}
      {read.data !== undefined && <FilterForm read={read.data} onClose={onClose} />}
    </Dialog>
  );
}

function FilterForm({ read, onClose }: { read: Tagged<Subscription>; onClose: () => void }) {
  const { id } = read;
  const [base, setBase] = useState(read);
  const [text, setText] = useState(textOf(read));
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: (over: Tagged<Subscription>) =>
      api.put('/v1/subscriptions/{id}', {
        path: { id },
        headers: forState(over),
        body: { filter: readFilterText(text) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(base);
  };
  return (
    <>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <FilterField value={text} onChange={setText} error={saving.error} />
        <ProblemNote error={isConflict(saving.error) ? null : saving.error} />
        <Actions onCancel={onClose}>
          <Button type="submit" kind="primary" busy={saving.isPending}>
            Save filter
          </Button>
        </Actions>
      </form>
      {isConflict(saving.error) && (
        <Conflict<Tagged<Subscription>>
          mine={text}
          textOf={textOf}
          language="json"
          read={() => readSubscription(id)}
          busy={saving.isPending}
          onClose={saving.reset}
          onTakeTheirs={(theirs) => {
            setBase(theirs);
            setText(textOf(theirs));
            saving.reset();
          }}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </>
  );
}
