import type { IconName } from '../ui/icons.tsx';

export interface NavigationItem {
  to:
    | '/'
    | `/${'sources' | 'workflows' | 'events' | 'webhooks' | 'traces' | 'registry' | 'connections' | 'data' | 'settings' | 'operator'}`;
  label: string;
  icon: IconName;
  /** The beginnings of other paths that belong to it. */
  also?: readonly string[];
}

/** In the order of an event's path, then the resources that it needs. */
const OF_ACCOUNT: readonly NavigationItem[] = [
  { to: '/', label: 'Overview', icon: 'overview' },
  { to: '/sources', label: 'Sources', icon: 'source', also: ['/runs'] },
  { to: '/workflows', label: 'Workflows', icon: 'workflow', also: ['/executions'] },
  { to: '/events', label: 'Events', icon: 'event' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook', also: ['/deliveries', '/subscriptions', '/replays'] },
  { to: '/traces', label: 'Traces', icon: 'trace' },
  { to: '/registry', label: 'Registry', icon: 'registry' },
  { to: '/connections', label: 'Connections', icon: 'connection' },
  { to: '/data', label: 'Data', icon: 'data' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
];

const OF_OPERATOR: readonly NavigationItem[] = [{ to: '/operator', label: 'Operator', icon: 'operator' }];

/** The admin key has no account: the pages of one would be refused. */
export function navigationOf(role: 'account' | 'operator'): readonly NavigationItem[] {
  return role === 'operator' ? OF_OPERATOR : OF_ACCOUNT;
}
