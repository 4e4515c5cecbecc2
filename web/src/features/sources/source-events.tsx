import { useEffect, useRef } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { EventDetail } from '../events/event-detail.tsx';
import { EventRows, NewRows } from '../events/event-rows.tsx';
import { useLiveEvents } from '../events/use-live-events.ts';
import { endpointOf, type Source } from './source-queries.ts';

interface SourceEventsProps {
  source: Source;
  /** Stands in the URL, which the page around it keeps. */
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}

/** The event bin: the last hundred, and every new one as it comes. */
export function SourceEvents({ source, selected, onSelect: select }: SourceEventsProps) {
  const live = useLiveEvents(`/v1/sources/${source.id}/sse?expand=event`);
  const { hold } = live;
  useEffect(() => hold(selected !== undefined), [hold, selected]);
  const chosen = live.shown.find(({ id }) => id === selected);
  const scroller = useRef<HTMLDivElement>(null);
  const showNew = () => {
    live.show();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <div className={classNames('grid gap-4', chosen !== undefined && 'lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]')}>
      <Panel title="Events" actions={<LiveBadge state={live.state} />}>
        <NewRows count={live.waiting} onShow={showNew} />
        {live.shown.length === 0 ? (
          <Empty icon="event" title="No events yet" command={emptyCommand(source)}>
            Events appear here as the source emits them. Press Run now, or send a request to its endpoint.
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
      </Panel>
      {chosen !== undefined && <EventDetail event={chosen} onClose={() => select(undefined)} />}
    </div>
  );
}

function emptyCommand(source: Source): string {
  const endpoint = endpointOf(source);
  return endpoint === undefined
    ? `hw run ${source.name_slug}`
    : `curl ${endpoint} -H 'Content-Type: application/json' -d '{"hello":"world"}'`;
}
