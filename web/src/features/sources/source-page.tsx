import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { ListenersOfSource } from './listeners-of-source.tsx';
import { Owner } from './owner.tsx';
import { runCommandOf, RunWithEvent } from './run-with-event.tsx';
import { SourceConfiguration } from './source-configuration.tsx';
import { SourceEvents } from './source-events.tsx';
import { SourceLogs } from './source-logs.tsx';
import { SourceRuns } from './source-runs.tsx';
import { endpointOf, type Source, sourceQuery } from './source-queries.ts';

export function SourcePage() {
  const { id } = useParams({ from: '/shell/sources/$id' });
  const { data: source, error } = useQuery(sourceQuery(id));
  if (source === undefined) {
    return <PendingPage title="Source" error={error} list="/sources" />;
  }
  return <SourceView source={source} />;
}

function SourceView({ source }: { source: Source }) {
  const { tab = 'events', event, compare } = useSearch({ from: '/shell/sources/$id' });
  const navigate = useNavigate({ from: '/sources/$id' });
  const endpoint = endpointOf(source);
  return (
    <Page
      title={source.name}
      aside={<Status of={source.active ? 'active' : 'inactive'} />}
      actions={<SourceActions source={source} />}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-soft">
        <span className="flex items-center gap-1 font-mono">
          {source.id}
          <CopyButton text={source.id} what="id" />
        </span>
        {endpoint !== undefined && (
          <span className="flex min-w-0 items-center gap-1 font-mono">
            <span className="truncate">{endpoint}</span>
            <CopyButton text={endpoint} what="endpoint URL" />
          </span>
        )}
        <span>
          Made by <Owner userId={source.user_id} />, <Time atMs={source.created_at * 1000} />
        </span>
      </div>
      <Tabs
        label="Source"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          {
            value: 'events',
            label: 'Events',
            panel: (
              <SourceEvents
                source={source}
                selected={event}
                onSelect={(id) =>
                  void navigate({ search: (old) => ({ ...old, event: id }), replace: event !== undefined })
                }
                compared={compare}
                onCompare={(emitId) => void navigate({ search: (old) => ({ ...old, compare: emitId }) })}
              />
            ),
          },
          { value: 'runs', label: 'Runs', panel: <SourceRuns source={source} /> },
          { value: 'logs', label: 'Logs', panel: <SourceLogs source={source} /> },
          { value: 'configuration', label: 'Configuration', panel: <SourceConfiguration source={source} /> },
          { value: 'listeners', label: 'Listeners', panel: <ListenersOfSource source={source} /> },
        ]}
      />
    </Page>
  );
}

function SourceActions({ source }: { source: Source }) {
  const [isDeleting, setDeleting] = useState(false);
  const [isWriting, setWriting] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { id, name, active } = source;
  const path = { id };
  const headers = forState(source);
  const refresh = () => queries.invalidateQueries({ queryKey: ['source', id] });
  const running = useMutation({
    mutationFn: () => api.post('/v1/sources/{id}/run', { path, body: runCommandOf(source).body }),
  });
  const switching = useMutation({
    mutationFn: () => api.put('/v1/sources/{id}', { path, headers, body: { active: !active } }),
    onSettled: refresh,
  });
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/sources/{id}', { path, headers }),
    onError: refresh,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sources'] });
      await navigate({ to: '/sources' });
    },
  });
  return (
    <>
      <Button kind="primary" busy={running.isPending} onClick={() => running.mutate()}>
        <Icon name="play" />
        Run now
      </Button>
      <Button needs="change" onClick={() => setWriting(true)}>
        Run with an event
      </Button>
      {isWriting && <RunWithEvent source={source} onClose={() => setWriting(false)} />}
      <Button needs="change" busy={switching.isPending} onClick={() => switching.mutate()}>
        <Icon name={active ? 'pause' : 'play'} />
        {active ? 'Deactivate' : 'Activate'}
      </Button>
      <Button kind="danger" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      <CopyMenu
        command={{ path: `/v1/sources/${id}`, hw: `hw describe ${id}` }}
        actions={{
          'Run now': runCommandOf(source),
          [active ? 'Deactivate' : 'Activate']: {
            method: 'PUT',
            path: `/v1/sources/${id}`,
            body: { active: !active },
            hw: `hw update ${id} --${active ? 'deactivate' : 'activate'}`,
          },
          Delete: { method: 'DELETE', path: `/v1/sources/${id}`, hw: `hw delete ${id}` },
        }}
      />
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete source ${name}?`}
        action="Delete source"
        busy={deleting.isPending}
        onConfirm={() => deleting.mutate()}
      >
        Its events, logs, state and subscriptions go with it, and its endpoint answers 404. Deliveries that wait are
        cancelled.
        <ProblemNote error={deleting.error} />
      </Confirm>
      <div className="basis-full empty:hidden">
        <ProblemNote error={running.error ?? switching.error} />
      </div>
    </>
  );
}
