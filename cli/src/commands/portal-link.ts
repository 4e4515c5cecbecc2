import type { ApiClient } from '../api/client.ts';
import type { User } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { ofSeconds } from '../terminal/describe-time.ts';

interface PortalLink {
  url: string;
  key_id: string;
  expires_at: number;
}

const MAX_MINUTES = 24 * 60;

export const portalLink: CommandSpec = {
  path: 'portal-link',
  summary: 'Make a link to a page with the webhooks of one account, and nothing else',
  details:
    'For a customer: whoever has the link may make, test, change and delete webhooks until it ends. `hw keys revoke` with the id of its key ends it before.',
  options: [
    { name: 'account', value: 'id', summary: 'Whose webhooks, with the key of the operator. Default: your own.' },
    { name: 'minutes', value: 'number', summary: `How long it works, up to ${MAX_MINUTES}. Default: 30.` },
    { name: 'title', value: 'text', summary: 'What stands above the pages.' },
    { name: 'accent', value: 'colour', summary: 'The colour of buttons and links: `#1a655d`.' },
    { name: 'mode', value: 'mode', summary: 'Default: as the browser says.', choices: ['light', 'dark', 'system'] },
  ],
  examples: [
    { does: 'For an hour', command: 'hw portal-link --minutes 60' },
    { does: 'As the operator', command: "hw portal-link --account o_1vZ8kQ0aB3xYpL9mWc2T --title 'Acme webhooks'" },
  ],
  json: '{ url, key_id, expires_at }',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const minutes = input.count('minutes', { min: 1, max: MAX_MINUTES });
    const theme = { title: input.text('title'), accent: input.text('accent'), mode: input.text('mode') };
    const api = await connect();
    const id = input.text('account') ?? (await ownAccount(api));
    const body = { minutes, ...(Object.values(theme).some((one) => one !== undefined) ? { theme } : {}) };
    const link = await api.send<PortalLink>('POST', `/accounts/${encodeURIComponent(id)}/portal_links`, body);
    const end = `It ends ${ofSeconds(link.expires_at)}; before: hw keys revoke ${link.key_id}`;
    return { json: link, text: `${link.url}\n${end}`, quiet: link.url };
  },
};

async function ownAccount(api: ApiClient): Promise<string> {
  const [account] = (await api.get<User>('/users/me')).orgs;
  if (account !== undefined) return account.id;
  throw usageError('This key has no account of its own: name one with --account');
}
