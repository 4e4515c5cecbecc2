import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Actions, Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { type WholeWebhook, waitingDeliveriesQuery } from './webhook-queries.ts';

function useRefresh(id: string) {
  const queries = useQueryClient();
  return () =>
    Promise.all(
      ['webhook', 'deliveries', 'waiting'].map((kind) => queries.invalidateQueries({ queryKey: [kind, id] })),
    );
}

export function StartOrStop({ webhook }: { webhook: WholeWebhook }) {
  return webhook.active ? <Stop webhook={webhook} /> : <Start webhook={webhook} />;
}

function Stop({ webhook }: { webhook: WholeWebhook }) {
  const refresh = useRefresh(webhook.id);
  const path = { id: webhook.id };
  const headers = forState(webhook);
  const stopping = useMutation({
    mutationFn: () => api.put('/v1/webhooks/{id}', { path, headers, body: { active: false } }),
    onSettled: refresh,
  });
  return (
    <>
      <Button needs="change" busy={stopping.isPending} onClick={() => stopping.mutate()}>
        <Icon name="pause" />
        Deactivate
      </Button>
      <div className="basis-full empty:hidden">
        <ProblemNote error={stopping.error} />
      </div>
    </>
  );
}

/** Held deliveries drain: its owner says how fast. */
function Start({ webhook }: { webhook: WholeWebhook }) {
  const [isOpen, setOpen] = useState(false);
  const [rate, setRate] = useState('');
  const refresh = useRefresh(webhook.id);
  const path = { id: webhook.id };
  const headers = forState(webhook);
  const body = { active: true, ...(rate === '' ? {} : { drain_per_second: Number(rate) }) };
  const starting = useMutation({
    mutationFn: () => api.put('/v1/webhooks/{id}', { path, headers, body }),
    onSuccess: () => setOpen(false),
    onSettled: refresh,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    starting.mutate();
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        <Icon name="play" />
        Activate
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Activate the webhook"
        description="What it held is sent, the oldest event first. New events are sent at once."
      >
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label="Held deliveries a second"
            optional
            type="number"
            min={1}
            max={10_000}
            placeholder="as fast as it goes"
            value={rate}
            onChange={({ target }) => setRate(target.value)}
            errors={messagesFor(starting.error, 'drain_per_second')}
          />
          <ProblemNote error={starting.error} />
          <Actions onCancel={() => setOpen(false)}>
            <Button type="submit" kind="primary" busy={starting.isPending}>
              Activate
            </Button>
          </Actions>
        </form>
      </Dialog>
    </>
  );
}

const WHY = {
  stopped: 'The webhook is stopped.',
  failing: 'The webhook was disabled: all its attempts have failed for too long.',
  gone: 'The webhook was disabled: its receiver answered 410 Gone.',
};

/** Deliveries that wait because the webhook is stopped, or drains, and how to give it up. */
export function HoldNote({ webhook }: { webhook: WholeWebhook }) {
  const { id, active, draining_since, drain_per_second } = webhook;
  const isDraining = active && draining_since !== null;
  const status = active ? 'pending' : 'held';
  const { data: waiting } = useQuery({ ...waitingDeliveriesQuery(id, status), enabled: !active || isDraining });
  if (active && !isDraining) return null;
  const rate = drain_per_second === null ? 'as fast as it goes' : `${drain_per_second} a second`;
  return (
    <div
      role="status"
      aria-label="What waits"
      className="flex flex-wrap items-center gap-3 rounded-md border border-line bg-warn-soft p-3 text-sm"
    >
      <Status of={status} label={waiting === undefined ? status : `${waiting} ${status}`} />
      {active
        ? `What was held is being sent, ${rate}.`
        : `${WHY[webhook.disabled_reason ?? 'stopped']} Events are kept, and sent when it is activated.`}
      {waiting !== 0 && (
        <span className="ml-auto">
          <Discard id={id} />
        </span>
      )}
    </div>
  );
}

function Discard({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false);
  const refresh = useRefresh(id);
  const discarding = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/discard', { path: { id } }),
    onSuccess: () => setAsking(false),
    onSettled: refresh,
  });
  return (
    <>
      <Button kind="danger" size="small" onClick={() => setAsking(true)}>
        Discard what waits
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Discard what waits?"
        action="Discard"
        busy={discarding.isPending}
        onConfirm={() => discarding.mutate()}
      >
        Deliveries that are held or pending are cancelled. They stay in the list.
        <ProblemNote error={discarding.error} />
      </Confirm>
    </>
  );
}
