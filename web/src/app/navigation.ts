import type { IconName } from '../ui/icons.tsx';

export interface NavigationItem {
  to: '/' | '/sources' | '/workflows' | '/webhooks' | '/traces';
  label: string;
  icon: IconName;
}

/** In the order of the way of an event. */
export const NAVIGATION: readonly NavigationItem[] = [
  { to: '/', label: 'Overview', icon: 'overview' },
  { to: '/sources', label: 'Sources', icon: 'source' },
  { to: '/workflows', label: 'Workflows', icon: 'workflow' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook' },
  { to: '/traces', label: 'Traces', icon: 'trace' },
];
