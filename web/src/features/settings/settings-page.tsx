import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AuditLog } from './audit-log.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Environment } from './environment.tsx';
import { OAuthClients } from './oauth-clients.tsx';
import { Members } from './members.tsx';
import { OwnAccess } from './own-access.tsx';
import { OwnLimits } from './own-limits.tsx';
import { OwnUsage } from './own-usage.tsx';
import { useSession } from '../../api/session.ts';

export function SettingsPage() {
  const isMember = (useSession()?.member ?? null) !== null;
  const { tab = 'keys' } = useSearch({ from: '/shell/settings' });
  const navigate = useNavigate({ from: '/settings' });
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          { value: 'keys', label: 'API keys', panel: <ApiKeys /> },
          { value: 'members', label: 'Members', panel: <Members /> },
          ...(isMember ? [{ value: 'access', label: 'Your sign-in', panel: <OwnAccess /> }] : []),
          { value: 'environment', label: 'Environment variables', panel: <Environment /> },
          { value: 'oauth', label: 'OAuth clients', panel: <OAuthClients /> },
          { value: 'limits', label: 'Limits', panel: <OwnLimits /> },
          { value: 'usage', label: 'Usage', panel: <OwnUsage /> },
          { value: 'audit', label: 'Audit log', panel: <AuditLog /> },
        ]}
      />
    </Page>
  );
}
