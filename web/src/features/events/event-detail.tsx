import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client.ts';
import { writeExact } from '../../api/exact-json.ts';
import { useNames } from '../../api/names.ts';
import { CloseDetail } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CodeView } from '../../ui/code-view.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { portal } from '../../app/portal.ts';
import type { Delivery } from '../webhooks/webhook-queries.ts';
import { EmitterLink } from './emitter-link.tsx';
import { EventAgain } from './event-again.tsx';
import { eventQuery } from './event-queries.ts';
import type { LiveEvent } from './use-live-events.ts';

interface EventDetailProps {
  event: LiveEvent;
  onClose: () => void;
  /** The `emit_id` of the event that this one is compared with. */
  compared?: string | undefined;
  onCompare?: (emitId: string | undefined) => void;
}

/** An event with all its data, and its listeners. */
export function EventDetail({ event, onClose, compared, onCompare }: EventDetailProps) {
  const { metadata } = event;
  const whole = useQuery({ ...eventQuery(metadata.emit_id), enabled: event.event_truncated });
  const shown = event.event_truncated ? whole.data : event;
  const deliveries = useQuery(deliveriesOfQuery(metadata.emit_id));
  const isOfSource = portal === undefined && metadata.emitter_id.startsWith('dc_');
  const isCompared = compared !== undefined && compared !== metadata.emit_id;
  return (
    <Panel
      title={metadata.summary ?? 'Event'}
      actions={
        <>
          {onCompare !== undefined && (
            <Button
              size="small"
              aria-pressed={compared !== undefined}
              onClick={() => onCompare(compared === undefined ? metadata.emit_id : undefined)}
            >
              {compared === undefined ? 'Compare' : 'Stop comparing'}
            </Button>
          )}
          {isOfSource && <EventAgain event={event} data={shown?.event} />}
          <CopyMenu
            command={{
              path: `/v1/events?id=${metadata.emit_id}&expand=event`,
              hw: `hw search --id ${metadata.emit_id} --json`,
            }}
          />
          <CloseDetail onClose={onClose} />
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1 text-xs">
          <Fact name="Id" isCode>
            {event.id}
            <CopyButton text={metadata.emit_id} what="emit id" />
          </Fact>
          <Fact name="Stored">
            <Time atMs={event.indexed_at_ms} />
          </Fact>
          <Fact name="Emitter">
            <EmitterLink id={metadata.emitter_id} />
          </Fact>
          {metadata.id !== null && (
            <Fact name="Dedupe id" isCode>
              {metadata.id}
            </Fact>
          )}
          <Fact name="Channel">{metadata.name === '' ? 'default' : metadata.name}</Fact>
          {metadata.trace_id !== null && (
            <Fact name="Trace" isCode>
              <Link to="/traces/$id" params={{ id: metadata.trace_id }} className="text-accent underline">
                {metadata.trace_id}
              </Link>
            </Fact>
          )}
        </dl>
        <ProblemNote error={deliveries.error} />
        <DeliveriesOfEvent rows={deliveries.data?.data ?? []} />
        <ProblemNote error={whole.error} />
        {compared === metadata.emit_id && (
          <p role="status" className="text-sm text-ink-soft">
            Open another event: the two are shown side by side.
          </p>
        )}
        {isCompared && shown !== undefined && <Difference emitId={compared} event={shown} />}
        {/* It stands below the deliveries: nothing is read that will move. */}
        {!isCompared && deliveries.isPending && <SkeletonRows rows={3} />}
        {!isCompared && !deliveries.isPending && (
          <JsonTree
            key={`${metadata.emit_id} ${shown === undefined}`}
            value={shown?.event ?? event.event}
            label="Event"
          />
        )}
      </div>
    </Panel>
  );
}

function Difference({ emitId, event }: { emitId: string; event: LiveEvent }) {
  const other = useQuery(eventQuery(emitId));
  return (
    <>
      <ProblemNote error={other.error} />
      {other.data !== undefined && (
        <CodeView
          value={writeExact(event.event)}
          original={writeExact(other.data.event)}
          label={`Changes since ${other.data.id}`}
          language="json"
        />
      )}
    </>
  );
}

const REFRESH_MS = 3_000;

const deliveriesOfQuery = (emitId: string) =>
  queryOptions({
    queryKey: ['deliveries-of', emitId],
    queryFn: ({ signal }) => api.get('/v1/deliveries', { query: { emit_id: emitId, limit: 20 }, signal }),
    refetchInterval: REFRESH_MS,
  });

function DeliveriesOfEvent({ rows }: { rows: readonly Delivery[] }) {
  const names = useNames('webhooks');
  if (rows.length === 0) return null;
  return (
    <ul aria-label="Deliveries of this event" className="flex flex-col gap-1 text-sm">
      {rows.map(({ id, webhook_id: webhookId, status, attempts, replay_id: replayId }) => (
        <li key={id} className="flex items-center gap-2">
          <Status of={status} />
          <Link
            to="/webhooks/$id"
            params={{ id: webhookId }}
            search={{ delivery: id }}
            title={webhookId}
            className="truncate text-accent underline"
          >
            {names.get(webhookId) ?? webhookId}
          </Link>
          <span className="text-xs whitespace-nowrap text-ink-faint">
            {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
            {replayId === null ? '' : ' of a replay'}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** `isCode`: an id, or what a component has written. */
export function Fact({ name, isCode = false, children }: { name: string; isCode?: boolean; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className={classNames('flex h-5 min-w-0 items-center gap-1 truncate', isCode && 'font-mono')}>{children}</dd>
    </>
  );
}
