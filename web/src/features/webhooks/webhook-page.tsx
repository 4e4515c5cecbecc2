import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { api, ask } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { SubscriptionsOfWebhook } from './subscriptions-of-webhook.tsx';
import { WebhookSettings } from './webhook-settings.tsx';
import { type Attempt, deliveriesQuery, type Delivery, type Webhook, webhookQuery } from './webhook-queries.ts';

export function WebhookPage() {
  const { id } = useParams({ from: '/shell/webhooks/$id' });
  const { data: webhook, error } = useQuery(webhookQuery(id));
  if (webhook === undefined) {
    return <Page title="Webhook">{error === null ? <SkeletonRows /> : <ProblemNote error={error} />}</Page>;
  }
  return <WebhookView webhook={webhook} />;
}

function WebhookView({ webhook }: { webhook: Webhook }) {
  const { tab = 'deliveries' } = useSearch({ from: '/shell/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const { id, name, url, active } = webhook;
  return (
    <Page
      title={name ?? url}
      aside={<Status of={active ? 'active' : 'inactive'} />}
      actions={<WebhookActions webhook={webhook} />}
    >
      <p className="flex items-center gap-1 font-mono text-xs text-ink-soft">
        {url}
        <CopyButton text={url} what="URL" />
      </p>
      <Tabs
        label="Webhook"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          { value: 'deliveries', label: 'Deliveries', panel: <Deliveries webhook={webhook} /> },
          { value: 'subscriptions', label: 'Subscriptions', panel: <SubscriptionsOfWebhook webhookId={id} /> },
          { value: 'settings', label: 'Settings', panel: <WebhookSettings webhook={webhook} /> },
        ]}
      />
    </Page>
  );
}

function WebhookActions({ webhook: { id, active } }: { webhook: Webhook }) {
  const queries = useQueryClient();
  const params = { path: { id } };
  const switching = useMutation({
    mutationFn: () => ask(api.PUT('/v1/webhooks/{id}', { params, body: { active: !active } })),
    onSuccess: ({ data }) => queries.setQueryData(['webhook', id], data),
  });
  const again = useMutation({
    mutationFn: () => ask(api.POST('/v1/webhooks/{id}/redeliver', { params, body: {} })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['deliveries', id] }),
  });
  return (
    <>
      <Button busy={again.isPending} onClick={() => again.mutate()}>
        <Icon name="retry" />
        Send all failed again
      </Button>
      <Button busy={switching.isPending} onClick={() => switching.mutate()}>
        <Icon name={active ? 'pause' : 'play'} />
        {active ? 'Deactivate' : 'Activate'}
      </Button>
      <CopyMenu command={{ path: `/v1/webhooks/${id}`, hw: `hw webhooks get ${id}` }} />
      <p role="status" className="basis-full text-right text-sm text-ink-soft empty:hidden">
        {again.data !== undefined && `${again.data.data.count} failed deliveries go out anew.`}
      </p>
      <div className="basis-full empty:hidden">
        <ProblemNote error={again.error ?? switching.error} />
      </div>
    </>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'Status', cell: ({ status }) => <Status of={status} />, className: 'w-28' },
  { header: 'Event', cell: ({ event_id }) => <span className="font-mono text-xs">{event_id}</span> },
  { header: 'Answer', cell: ({ attempts }) => answerOf(attempts.at(-1)), wide: true },
  { header: 'Attempts', cell: ({ attempts }) => attempts.length, className: 'w-24 tabular-nums' },
  { header: 'Created', cell: ({ created_at }) => <Time atMs={created_at * 1000} />, className: 'w-28 text-ink-soft' },
];

function answerOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'not sent yet';
  return attempt.error ?? `${attempt.status_code}`;
}

function Deliveries({ webhook }: { webhook: Webhook }) {
  const { delivery: selected } = useSearch({ from: '/shell/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const list = useInfiniteQuery(deliveriesQuery(webhook.id));
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const chosen = rows.find(({ id }) => id === selected);
  const select = (id: string | undefined) => void navigate({ search: (search) => ({ ...search, delivery: id }) });
  return (
    <div className="grid gap-4">
      <Paged
        list={list}
        title="Deliveries"
        count={rows.length}
        empty={
          <Empty
            icon="webhook"
            title="Nothing was sent yet"
            command={`npx hw webhooks subscribe <source> ${webhook.id}`}
          >
            Subscribe this webhook to a source; each event from then on is sent to its URL.
          </Empty>
        }
      >
        <Table
          label="Deliveries"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          selected={selected}
          onOpen={({ id }) => select(id)}
        />
      </Paged>
      {chosen !== undefined && <DeliveryDetail delivery={chosen} onClose={() => select(undefined)} />}
    </div>
  );
}

function DeliveryDetail({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const queries = useQueryClient();
  const { id, webhook_id, attempts, next_attempt_at } = delivery;
  const again = useMutation({
    mutationFn: () =>
      ask(api.POST('/v1/webhooks/{id}/redeliver', { params: { path: { id: webhook_id } }, body: { delivery_id: id } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['deliveries', webhook_id] }),
  });
  return (
    <Panel
      title={`Delivery ${id}`}
      actions={
        <>
          <Button
            size="small"
            busy={again.isPending}
            disabled={delivery.status === 'pending'}
            onClick={() => again.mutate()}
          >
            <Icon name="retry" className="size-3.5" />
            Redeliver
          </Button>
          <Button kind="quiet" size="small" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={again.error} />
        <p className="text-sm text-ink-soft">
          Event <code className="font-mono text-xs">{delivery.event_id}</code> of{' '}
          <Link to="/sources/$id" params={{ id: delivery.emitter_id }} className="text-accent underline">
            {delivery.emitter_id}
          </Link>
          {next_attempt_at !== null && (
            <>
              . Next attempt <Time atMs={next_attempt_at * 1000} />
            </>
          )}
        </p>
        <ol aria-label="Attempts" className="flex flex-col gap-2">
          {attempts.map((attempt, index) => (
            <AttemptRow key={attempt.at} attempt={attempt} number={index + 1} />
          ))}
        </ol>
      </div>
    </Panel>
  );
}

function AttemptRow({ attempt, number }: { attempt: Attempt; number: number }) {
  const isGood = attempt.status_code !== null && attempt.status_code >= 200 && attempt.status_code < 300;
  return (
    <li className="rounded-md border border-line p-3 text-sm">
      <div className="flex items-center gap-3">
        <span className="text-ink-faint">{number}</span>
        <Status
          of={isGood ? 'delivered' : 'failed'}
          label={attempt.status_code === null ? 'no answer' : `HTTP ${attempt.status_code}`}
        />
        <Time atMs={Date.parse(attempt.at)} />
        <span className="ml-auto text-ink-faint tabular-nums">{formatDuration(attempt.duration_ms)}</span>
      </div>
      {attempt.error !== null && <p className="mt-2 text-bad">{attempt.error}</p>}
      {attempt.response !== null && attempt.response !== '' && (
        <pre className="mt-2 max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap">
          {attempt.response}
        </pre>
      )}
    </li>
  );
}
