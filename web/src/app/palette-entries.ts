import { api } from '../api/client.ts';
import type { IconName } from '../ui/icons.tsx';
import { currentSession } from '../api/session.ts';
import { navigationOf } from './navigation.ts';

export interface PaletteEntry {
  label: string;
  /** Below the base path. */
  path: string;
  icon: IconName;
  hint: string;
}

const MAX_SHOWN = 12;
const MAX_ASKED = 100;

const roleNow = () => currentSession()?.role ?? 'account';

/** Prefixes of ids, and the page of each. */
const PAGES: readonly [pattern: RegExp, label: string, icon: IconName, path: (id: string) => string][] = [
  [/^dc_\w+$/, 'Source', 'source', (id) => `/sources/${id}`],
  [/^wh_\w+$/, 'Webhook', 'webhook', (id) => `/webhooks/${id}`],
  [/^dlv_\w+$/, 'Delivery', 'webhook', (id) => `/deliveries/${id}`],
  [/^p_\w+$/, 'Workflow', 'workflow', (id) => `/workflows/${id}`],
  [/^(dc|p)_\w+-\d{1,15}-\d+$|^\d{13}-\d+$/, 'Event', 'event', (id) => `/events?id=${id}`],
  [/^exec_\w+$/, 'Execution', 'workflow', (id) => `/executions/${id}`],
  [/^(exec|inv)_\w+$/, 'Trace', 'trace', (id) => `/traces/${id}`],
  [/^rpl_\w+$/, 'Replays', 'retry', () => '/replays'],
  [/^(dc|p)_\w+-\d{13}-\d+$/, 'Trace of the event', 'trace', (id) => `/traces/${id}`],
];

/**
 * Named resources for a text, the newest of each kind: the server looks for its longest word, and
 * `findEntries` for the others.
 */
export async function namedThings(text: string, signal: AbortSignal): Promise<PaletteEntry[]> {
  if (roleNow() === 'operator') return [];
  const longest = wordsOf(text).toSorted((a, b) => b.length - a.length)[0];
  const query = { limit: MAX_ASKED, ...(longest === undefined ? {} : { q: longest }) };
  const [sources, workflows, webhooks] = await Promise.all([
    api.get('/v1/users/me/sources', { query, signal }),
    api.get('/v1/users/me/workflows', { query, signal }),
    api.get('/v1/users/me/webhooks', { query, signal }),
  ]);
  return [
    ...sources.data.map(({ id, name }) => entryOf('source', id, name)),
    ...workflows.data.map(({ id, name }) => entryOf('workflow', id, name)),
    ...webhooks.data.map(({ id, name, url }) => entryOf('webhook', id, name ?? url)),
  ];
}

function entryOf(kind: 'source' | 'workflow' | 'webhook', id: string, label: string): PaletteEntry {
  return { label, path: `/${kind}s/${id}`, icon: kind, hint: id };
}

const wordsOf = (text: string) => text.trim().toLowerCase().split(/\s+/).filter(Boolean);

/** Pages of an account that the navigation does not show. */
const MORE_PAGES: readonly PaletteEntry[] = [
  { label: 'Sample receiver', path: '/sample-receiver', icon: 'webhook', hint: 'page' },
  { label: 'Subscriptions', path: '/subscriptions', icon: 'webhook', hint: 'page' },
  { label: 'Replays', path: '/replays', icon: 'retry', hint: 'page' },
  { label: 'Abandoned runs', path: '/runs', icon: 'retry', hint: 'page' },
  { label: 'First event', path: '/first-run', icon: 'play', hint: 'page' },
];

export function findEntries(text: string, things: readonly PaletteEntry[]): PaletteEntry[] {
  const wanted = text.trim();
  const pages = navigationOf(roleNow()).map(({ to, label, icon }) => ({ label, path: to, icon, hint: 'page' }));
  const byId = PAGES.filter(([pattern]) => pattern.test(wanted)).map(([, label, icon, path]) => ({
    label: `${label} ${wanted}`,
    path: path(wanted),
    icon,
    hint: 'id',
  }));
  const words = wordsOf(text);
  const more = roleNow() === 'operator' ? [] : MORE_PAGES;
  const matches = [...pages, ...more, ...things].filter(({ label, hint }) => {
    const heap = `${label} ${hint}`.toLowerCase();
    return words.every((word) => heap.includes(word));
  });
  const known = new Set(matches.map(({ path }) => path));
  return [...byId.filter(({ path }) => !known.has(path)), ...matches].slice(0, MAX_SHOWN);
}
