import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useNames } from '../../api/names.ts';
import { Beside } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { hwLine } from '../../ui/command.ts';
import { Empty } from '../../ui/empty.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { EventDetail } from '../events/event-detail.tsx';
import { useLinkedEvent } from '../events/event-queries.ts';
import { EventRows, NewRows } from '../events/event-rows.tsx';
import { useLiveEvents } from '../events/use-live-events.ts';
import { ReplayEvents } from '../webhooks/replay-events.tsx';
import { FirstRunOfSource } from './first-run-of-source.tsx';
import { PublishDialog } from './publish-event.tsx';
import { componentQuery, endpointOf, isIngest, type Source } from './source-queries.ts';

interface SourceEventsProps {
  source: Source;
  /** Stands in the URL, which the page around it keeps. */
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** The `emit_id` of the event that the open one is compared with. */
  compared: string | undefined;
  onCompare: (emitId: string | undefined) => void;
}

/** The event bin: the last hundred, and every new one as it comes. */
export function SourceEvents({ source, selected, onSelect: select, compared, onCompare }: SourceEventsProps) {
  const live = useLiveEvents(`/v1/sources/${source.id}/sse?expand=event`);
  const { hold } = live;
  const listeners = useNames('webhooks', 'workflows');
  // The first events are no news, also for a link that names one of them.
  const isHeld = selected !== undefined && live.shown.length > 0;
  useEffect(() => hold(isHeld), [hold, isHeld]);
  const listed = live.shown.find(({ id }) => id === selected);
  const isMissing = selected !== undefined && listed === undefined && live.state === 'live';
  const linked = useLinkedEvent(isMissing ? `${source.id}-${selected}` : undefined);
  const chosen = listed ?? linked.data;
  const scroller = useRef<HTMLDivElement>(null);
  const isEmpty = live.shown.length === 0;
  const component = useQuery({ ...componentQuery(source.component_id), enabled: isEmpty });
  const isWithoutCode = component.data !== undefined && isIngest(component.data);
  const [isPublishing, setPublishing] = useState(false);
  const showNew = () => {
    live.show();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <Beside
      title="Event"
      onClose={() => select(undefined)}
      detail={
        chosen && (
          <EventDetail event={chosen} onClose={() => select(undefined)} compared={compared} onCompare={onCompare} />
        )
      }
    >
      <Panel
        title="Events"
        aside={<LiveBadge state={live.state} />}
        actions={
          <>
            <ReplayEvents given={{ emitter_id: source.id }} others={listeners} />
            <Button size="small" needs="change" onClick={() => setPublishing(true)}>
              Publish an event
            </Button>
          </>
        }
      >
        <NewRows count={live.waiting} onShow={showNew} />
        <ProblemNote error={linked.error} />
        {isEmpty ? (
          <Empty
            icon="event"
            title="No events yet"
            command={isWithoutCode ? publishCommand(source) : runCommand(source)}
            action={
              isWithoutCode ? (
                <Button kind="primary" onClick={() => setPublishing(true)}>
                  Publish the first event
                </Button>
              ) : (
                <FirstRunOfSource source={source} />
              )
            }
          >
            Events appear here as the source emits them.
            {source.last_error !== null && <LastFailure error={source.last_error} />}
          </Empty>
        ) : (
          <EventRows
            scroller={scroller}
            events={live.shown}
            selected={selected}
            onSelect={select}
            onScrolled={(isAway) => hold(isAway || selected !== undefined)}
          />
        )}
        {isPublishing && <PublishDialog source={source} onClose={() => setPublishing(false)} />}
      </Panel>
    </Beside>
  );
}

function LastFailure({ error: { at, message } }: { error: NonNullable<Source['last_error']> }) {
  return (
    <span className="mt-3 block rounded-md bg-bad-soft p-3 text-bad">
      A run failed <Time atMs={at * 1000} />: {message}{' '}
      <Link from="/sources/$id" search={{ tab: 'logs' }} className="underline">
        Logs
      </Link>
    </span>
  );
}

const publishCommand = ({ name_slug: slug }: Source) => hwLine(['events', 'publish', slug], { data: '{}' });

function runCommand(source: Source): string {
  const endpoint = endpointOf(source);
  return endpoint === undefined
    ? `hw run ${source.name_slug}`
    : `curl ${endpoint} -H 'Content-Type: application/json' -d '{"hello":"world"}'`;
}
