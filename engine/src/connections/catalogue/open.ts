import type { AppDefinition } from '../../contract/index.ts';

/** Apps that need no connected account. */
export const openApps: readonly AppDefinition[] = [
  { slug: 'http', name: 'HTTP', description: 'Requests to any URL.', authType: 'none', fields: [] },
  { slug: 'rss', name: 'RSS', description: 'RSS and Atom feeds.', authType: 'none', fields: [] },
  { slug: 'schedule', name: 'Schedule', description: 'Intervals and cron expressions.', authType: 'none', fields: [] },
  {
    slug: 'hacker_news',
    name: 'Hacker News',
    docsUrl: 'https://github.com/HackerNews/API',
    authType: 'none',
    fields: [],
  },
];
