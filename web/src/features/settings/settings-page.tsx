import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AuditLog } from './audit-log.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Environment } from './environment.tsx';
import { OAuthClients } from './oauth-clients.tsx';
import { OwnLimits } from './own-limits.tsx';

export function SettingsPage() {
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
          { value: 'environment', label: 'Environment variables', panel: <Environment /> },
          { value: 'oauth', label: 'OAuth clients', panel: <OAuthClients /> },
          { value: 'limits', label: 'Limits', panel: <OwnLimits /> },
          { value: 'audit', label: 'Audit log', panel: <AuditLog /> },
        ]}
      />
    </Page>
  );
}
