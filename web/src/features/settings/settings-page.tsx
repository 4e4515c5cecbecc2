import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Command } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
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
import { TraceSettings } from './trace-settings.tsx';
import { useSession } from '../../api/session.ts';

/** The commands of tabs that have none in their panel. */
const COMMANDS: Readonly<Record<string, Command>> = {
  keys: { path: '/v1/api_keys', hw: 'hw keys list' },
  members: { path: '/v1/members', hw: 'hw members list' },
  environment: { path: '/v1/environment_variables', hw: 'hw env list' },
  audit: { path: '/v1/audit', hw: 'hw audit' },
};

export function SettingsPage() {
  const isMember = (useSession()?.member ?? null) !== null;
  const { tab = 'keys' } = useSearch({ from: '/shell/settings' });
  const navigate = useNavigate({ from: '/settings' });
  return (
    <Page title="Settings" {...(COMMANDS[tab] === undefined ? {} : { actions: <CopyMenu command={COMMANDS[tab]} /> })}>
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
          { value: 'traces', label: 'Traces', panel: <TraceSettings /> },
          { value: 'audit', label: 'Audit log', panel: <AuditLog /> },
        ]}
      />
    </Page>
  );
}
