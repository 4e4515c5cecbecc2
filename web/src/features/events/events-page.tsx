import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Empty } from '../../ui/empty.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SourceEvents } from '../sources/source-events.tsx';
import { sourcesQuery } from '../sources/source-queries.ts';

/** The events of one source after another, as they come. */
export function EventsPage() {
  const { source: wanted } = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  const list = useInfiniteQuery(sourcesQuery());
  const sources = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const source = sources.find(({ id }) => id === wanted) ?? sources[0];
  return (
    <Page title="Events">
      <ProblemNote error={list.error} />
      {list.isSuccess && source === undefined && (
        <Empty
          icon="event"
          title="No events yet"
          action={
            <Link to="/sources" search={{ action: 'create' }} className="text-accent underline">
              Create a source
            </Link>
          }
        >
          Events come from sources. Create one, and what it emits appears here.
        </Empty>
      )}
      {source !== undefined && (
        <>
          <div className="max-w-sm">
            <Field label="Emitter">
              {(ids) => (
                <select
                  {...ids}
                  className={INPUT_CLASS}
                  value={source.id}
                  onChange={({ target }) => void navigate({ search: { source: target.value } })}
                >
                  {sources.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
          <EventsOf key={source.id} source={source} />
        </>
      )}
    </Page>
  );
}

function EventsOf({ source }: { source: Parameters<typeof SourceEvents>[0]['source'] }) {
  const { event } = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  return (
    <SourceEvents
      source={source}
      selected={event}
      onSelect={(id) => void navigate({ search: { source: source.id, event: id }, replace: event !== undefined })}
    />
  );
}
