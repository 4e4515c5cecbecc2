import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { portal } from '../../app/portal.ts';
import { CloseDetail } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';
import { Fact } from '../events/event-detail.tsx';
import { AttemptRow, spanOf } from './attempt-row.tsx';
import type { Delivery } from './webhook-queries.ts';

/** One delivery with its attempts on one time axis, and what the receiver answered. */
export function DeliveryDetail({ delivery, onClose }: { delivery: Delivery; onClose?: () => void }) {
  const queries = useQueryClient();
  const { id, webhook_id, attempts, next_attempt_at } = delivery;
  const emitId = `${delivery.emitter_id}-${delivery.event_id}`;
  const span = spanOf(attempts);
  const isUnderWay = ['pending', 'sending', 'held'].includes(delivery.status);
  const mayBeSkipped = delivery.status === 'pending' || delivery.status === 'held';
  const again = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/redeliver', { path: { id: webhook_id }, body: { delivery_id: id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['deliveries'] });
      await queries.invalidateQueries({ queryKey: ['delivery', id] });
    },
  });
  const skipping = useMutation({
    mutationFn: () => api.post('/v1/deliveries/{id}/skip', { path: { id } }),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['deliveries'] });
      await queries.invalidateQueries({ queryKey: ['delivery', id] });
    },
  });
  return (
    <Panel
      title={`Delivery ${id}`}
      actions={
        <>
          <Button
            size="small"
            needs="change"
            busy={again.isPending}
            disabled={isUnderWay}
            title={isUnderWay ? 'It is not over yet: its next attempt comes by itself' : undefined}
            onClick={() => again.mutate()}
          >
            <Icon name="retry" className="size-3.5" />
            Redeliver
          </Button>
          {mayBeSkipped && (
            <Button size="small" needs="change" busy={skipping.isPending} onClick={() => skipping.mutate()}>
              Skip
            </Button>
          )}
          <CopyMenu
            command={{ path: `/v1/deliveries/${id}`, hw: `hw webhooks delivery ${id}` }}
            actions={{
              Redeliver: {
                method: 'POST',
                path: `/v1/webhooks/${webhook_id}/redeliver`,
                body: { delivery_id: id },
                hw: `hw webhooks redeliver ${webhook_id} ${id}`,
              },
              Skip: mayBeSkipped
                ? { method: 'POST', path: `/v1/deliveries/${id}/skip`, hw: `hw webhooks skip ${id}` }
                : undefined,
            }}
          />
          {onClose !== undefined && <CloseDetail onClose={onClose} />}
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={again.error ?? skipping.error} />
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1 text-xs">
          <Fact name="Status">
            <Status of={delivery.status} />
          </Fact>
          <Fact name="Event" isCode>
            {portal === undefined ? (
              <Link to="/events" search={{ id: emitId, event: emitId }} className="text-accent underline">
                {delivery.event_id}
              </Link>
            ) : (
              delivery.event_id
            )}
          </Fact>
          <Fact name="Emitter">
            <EmitterLink id={delivery.emitter_id} />
          </Fact>
          {portal === undefined && (
            <Fact name="Trace" isCode>
              <Link to="/traces/$id" params={{ id: emitId }} className="truncate text-accent underline">
                {emitId}
              </Link>
            </Fact>
          )}
          {next_attempt_at !== null && (
            <Fact name="Next attempt">
              <Time atMs={next_attempt_at * 1000} />
            </Fact>
          )}
        </dl>
        <ol aria-label="Attempts" className="flex flex-col gap-2">
          {attempts.map((attempt, index) => (
            <AttemptRow key={attempt.id} attempt={attempt} number={index + 1} span={span} />
          ))}
        </ol>
      </div>
    </Panel>
  );
}
