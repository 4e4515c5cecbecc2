import type { Source } from '../api/resources.ts';

interface Interface {
  endpoint_url?: string;
  interval_seconds?: number | null;
  cron?: string | null;
  timezone?: string | null;
}

/** Endpoints and timers of a source, from the props of its interfaces. */
export function describePlaces({ configured_props: props }: Pick<Source, 'configured_props'>): [string, string][] {
  return Object.values(props).flatMap((value): [string, string][] => {
    const { endpoint_url: url, interval_seconds: seconds, cron, timezone } = (value ?? {}) as Interface;
    if (typeof url === 'string') return [['Endpoint', url]];
    if (typeof cron === 'string') return [['Timer', timezone ? `${cron} (${timezone})` : cron]];
    return typeof seconds === 'number' ? [['Timer', `every ${seconds} s`]] : [];
  });
}
