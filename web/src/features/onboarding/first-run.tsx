import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api } from '../../api/client.ts';
import { writeExact } from '../../api/exact-json.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { useLiveEvents } from '../events/use-live-events.ts';
import { endpointOf, type Source, sourceQuery } from '../sources/source-queries.ts';
import { webhookQuery } from '../webhooks/webhook-queries.ts';
import { MakeSource } from './make-source.tsx';
import { Received } from './received.tsx';
import { sampleReceiverQuery, sampleRequestsQuery } from './sample-queries.ts';
import { sendTestRequest } from './test-request.ts';

/** From nothing to a delivered event: each step shows what the one before has made. */
export function FirstRun() {
  const { source: sourceId, webhook: webhookId } = useSearch({ from: '/shell/first-run' });
  const navigate = useNavigate({ from: '/first-run' });
  const source = useQuery({ ...sourceQuery(sourceId ?? ''), enabled: sourceId !== undefined });
  return (
    <Page title="First event">
      <p className="max-w-2xl text-sm text-ink-soft">
        A source receives or makes events. A webhook is where they are delivered. Here both are made, and tried with a
        receiver that comes with this instance.
      </p>
      <Step number={1} title="Choose a source" isDone={source.data !== undefined}>
        {sourceId === undefined && <MakeSource onMade={(id) => void navigate({ search: { source: id } })} />}
        {sourceId !== undefined && source.isPending && <SkeletonRows rows={1} />}
        <div className="p-4 empty:hidden">
          <ProblemNote error={source.error} />
          {source.data !== undefined && <Made source={source.data} />}
        </div>
      </Step>
      {source.data !== undefined && (
        <>
          <Try key={source.data.id} source={source.data} />
          <Deliver
            source={source.data}
            webhookId={webhookId}
            onMade={(id) => void navigate({ search: (search) => ({ ...search, webhook: id }) })}
          />
        </>
      )}
      {webhookId !== undefined && <OwnUrl webhookId={webhookId} />}
    </Page>
  );
}

function Step(props: { number: number; title: string; isDone: boolean; actions?: ReactNode; children: ReactNode }) {
  const { number, title, isDone, actions, children } = props;
  return (
    <section aria-label={title} className="overflow-clip rounded-lg border border-line bg-surface">
      <div className="flex min-h-11 flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <span
          className={`flex size-6 items-center justify-center rounded-full text-xs font-semibold ${isDone ? 'bg-good-soft text-good' : 'bg-accent-soft text-accent-strong'}`}
        >
          {isDone ? <Icon name="check" className="size-3.5" /> : number}
        </span>
        <h2 className="text-sm font-semibold">{title}</h2>
        {isDone && <span className="sr-only">done</span>}
        {actions !== undefined && <div className="ml-auto flex items-center gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

function Made({ source }: { source: Source }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm">
      <Link to="/sources/$id" params={{ id: source.id }} className="font-medium text-accent underline">
        {source.name}
      </Link>
      is deployed. <code className="font-mono text-xs text-ink-soft">{source.id}</code>
    </p>
  );
}

const SHOWN_EVENTS = 5;

function Try({ source }: { source: Source }) {
  const endpoint = endpointOf(source);
  const live = useLiveEvents(`/v1/sources/${source.id}/sse?expand=event`);
  const sending = useMutation({ mutationFn: () => sendTestRequest(source) });
  const events = live.shown.slice(0, SHOWN_EVENTS);
  return (
    <Step number={2} title="See an event arrive" isDone={events.length > 0} actions={<LiveBadge state={live.state} />}>
      <div className="flex flex-col gap-3 p-4">
        <div className="flex flex-wrap items-center gap-3">
          {endpoint === undefined ? (
            <p className="min-w-0 flex-1 text-sm text-ink-soft">It runs by itself; a test runs it once more, now.</p>
          ) : (
            <p className="flex min-w-0 flex-1 items-center gap-1 max-sm:basis-full">
              <code className="min-w-0 font-mono text-xs break-all">{endpoint}</code>
              <CopyButton text={endpoint} what="endpoint URL" />
            </p>
          )}
          <Button kind="primary" busy={sending.isPending} onClick={() => sending.mutate()}>
            <Icon name="play" />
            {endpoint === undefined ? 'Run now' : 'Send a test request'}
          </Button>
        </div>
        <ProblemNote error={sending.error} />
        {events.length === 0 ? (
          <p className="rounded-md bg-sunken px-3 py-4 text-center text-sm text-ink-soft">
            {sending.isSuccess ? 'Sent. The event will be here in a moment.' : 'Its events appear here as they come.'}
          </p>
        ) : (
          <ul aria-label="Events" className="divide-y divide-line rounded-md border border-line">
            {events.map(({ id, indexed_at_ms: at, event, metadata }) => (
              <li key={id} className="flex items-center gap-3 px-3 py-2 text-sm">
                <span className="shrink-0 text-xs text-ink-soft">
                  <Time atMs={at} form="clock" />
                </span>
                <bdi className="truncate">{metadata.summary ?? writeExact(event)}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Step>
  );
}

interface DeliverProps {
  source: Source;
  webhookId: string | undefined;
  onMade: (webhookId: string) => void;
}

function Deliver({ source, webhookId, onMade }: DeliverProps) {
  const queries = useQueryClient();
  const [selected, setSelected] = useState<string>();
  const received = useQuery({ ...sampleRequestsQuery(), enabled: webhookId !== undefined });
  const own = received.data?.filter((request) => request.webhook_id === webhookId) ?? [];
  const making = useMutation({
    mutationFn: async () => {
      const { url } = await queries.query(sampleReceiverQuery());
      const { data: webhook } = await api.post('/v1/webhooks', { body: { url, name: 'Sample receiver' } });
      await api.post('/v1/subscriptions', { body: { emitter_id: source.id, listener_id: webhook.id } });
      onMade(webhook.id);
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      // Only events from now on are delivered: without one there would be nothing to see.
      await sendTestRequest(source);
    },
  });
  return (
    <Step
      number={3}
      title="Deliver it, signed"
      isDone={own.length > 0}
      actions={
        <Link to="/sample-receiver" className="text-xs text-accent underline">
          Open the sample receiver
        </Link>
      }
    >
      <div className="flex flex-wrap items-center gap-3 p-4">
        <p className="min-w-56 flex-1 text-sm text-ink-soft">
          {webhookId === undefined
            ? 'A webhook sends each event of the source on. This one leads to a receiver within this instance, which shows what arrives and checks its signature. The test is then sent once more.'
            : 'Every event of the source is now delivered to the sample receiver.'}
        </p>
        {webhookId === undefined && (
          <Button kind="primary" busy={making.isPending} onClick={() => making.mutate()}>
            Deliver to the sample receiver
          </Button>
        )}
        <div className="basis-full empty:hidden">
          <ProblemNote error={making.error ?? received.error} />
        </div>
      </div>
      {webhookId !== undefined && own.length === 0 && (
        <p role="status" className="mx-4 mb-4 rounded-md bg-sunken px-3 py-4 text-center text-sm text-ink-soft">
          Waiting for the delivery.
        </p>
      )}
      {own.length > 0 && <Received requests={own.slice(0, SHOWN_EVENTS)} selected={selected} onSelect={setSelected} />}
    </Step>
  );
}

function OwnUrl({ webhookId: id }: { webhookId: string }) {
  const [url, setUrl] = useState('');
  const queries = useQueryClient();
  const webhook = useQuery(webhookQuery(id));
  const changing = useMutation({
    mutationFn: () => api.put('/v1/webhooks/{id}', { path: { id }, body: { url, name: '' } }),
    onSuccess: () =>
      Promise.all([['webhook', id], ['webhooks']].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return (
    <Step number={4} title="Use your own URL" isDone={changing.isSuccess}>
      <RowForm onSubmit={() => changing.mutate()} error={webhook.error ?? changing.error}>
        <div className="min-w-56 flex-1">
          <TextField
            label="URL of your receiver"
            type="url"
            required
            value={url}
            onChange={({ target }) => setUrl(target.value)}
            errors={messagesFor(changing.error, 'url')}
            placeholder="https://example.com/hooks"
            description="The webhook keeps its secret and its subscription."
          />
        </div>
        <Button type="submit" busy={changing.isPending}>
          Use this URL
        </Button>
        {changing.isSuccess && (
          <p role="status" className="basis-full rounded-md bg-good-soft px-3 py-2 text-sm">
            Events now go to your URL.{' '}
            <Link to="/webhooks/$id" params={{ id }} className="text-accent underline">
              Its page
            </Link>{' '}
            has the secret to verify them with, and every attempt.
          </p>
        )}
      </RowForm>
    </Step>
  );
}
