import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Page } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { Status } from '../../ui/status.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ReplayEvents } from './replay-events.tsx';
import { portal } from '../../app/portal.ts';
import { useEmitterNames } from '../events/emitter-names.ts';
import { SubscriptionsOfWebhook } from './subscriptions-of-webhook.tsx';
import { WebhookHealth } from './webhook-health.tsx';
import { WebhookSettings } from './webhook-settings.tsx';
import { Deliveries } from './deliveries.tsx';
import { HoldNote, StartOrStop } from './webhook-hold.tsx';
import { RetryNow, SendTest } from './webhook-test.tsx';
import { type WholeWebhook, webhookQuery } from './webhook-queries.ts';

export function WebhookPage() {
  const { id } = useParams({ from: '/shell/webhooks/$id' });
  const { data: webhook, error } = useQuery(webhookQuery(id));
  if (webhook === undefined) {
    return <PendingPage title="Webhook" error={error} list="/webhooks" />;
  }
  return <WebhookView webhook={webhook} />;
}

function WebhookView({ webhook }: { webhook: WholeWebhook }) {
  const { tab = 'deliveries' } = useSearch({ from: '/shell/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const { id, name, url, active } = webhook;
  return (
    <Page
      title={name ?? url}
      aside={
        <Status
          of={active ? 'active' : 'inactive'}
          label={active ? 'active' : webhook.disabled_reason === null ? 'on hold' : 'disabled'}
        />
      }
      actions={<WebhookActions webhook={webhook} />}
    >
      <p className="flex items-center gap-1 font-mono text-xs text-ink-soft">
        <span className="min-w-0 break-all">{url}</span>
        <CopyButton text={url} what="URL" />
      </p>
      <WebhookHealth id={id} />
      <HoldNote webhook={webhook} />
      <Tabs
        label="Webhook"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          { value: 'deliveries', label: 'Deliveries', panel: <Deliveries webhook={webhook} /> },
          { value: 'subscriptions', label: 'Subscriptions', panel: <SubscriptionsOfWebhook webhook={webhook} /> },
          { value: 'settings', label: 'Settings', panel: <WebhookSettings webhook={webhook} /> },
        ]}
      />
    </Page>
  );
}

function WebhookActions({ webhook }: { webhook: WholeWebhook }) {
  const { id, active } = webhook;
  const emitters = useEmitterNames();
  return (
    <>
      {active && <RetryNow id={id} />}
      {active && portal === undefined && (
        <ReplayEvents given={{ listener_id: id }} listener={webhook.name ?? webhook.url} others={emitters} />
      )}
      <SendTest id={id} />
      <StartOrStop webhook={webhook} />
      <CopyMenu
        command={{ path: `/v1/webhooks/${id}`, hw: `hw webhooks describe ${id}` }}
        actions={{
          'Retry now': { method: 'POST', path: `/v1/webhooks/${id}/retry`, body: {}, hw: `hw webhooks retry ${id}` },
          'Send a test': { method: 'POST', path: `/v1/webhooks/${id}/test`, body: {}, hw: `hw webhooks test ${id}` },
          [active ? 'Deactivate' : 'Activate']: {
            method: 'PUT',
            path: `/v1/webhooks/${id}`,
            body: { active: !active },
            hw: `hw webhooks update ${id} --${active ? 'deactivate' : 'activate'}`,
          },
          Delete: { method: 'DELETE', path: `/v1/webhooks/${id}`, hw: `hw webhooks delete ${id}` },
        }}
      />
    </>
  );
}
