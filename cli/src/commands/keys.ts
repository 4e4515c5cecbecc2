import { KEY_SCOPES } from '@headwater/shared';
import type { ApiKey } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import { confirmDeletion, YES } from './delete.ts';
import { momentOf } from '../moment-option.ts';

const create: CommandSpec = {
  path: 'keys create',
  summary: 'Make another API key of the account',
  details:
    'Scopes: `full` may do everything, `read` every read but secrets, `publish` send events, `webhooks` webhooks with their subscriptions and deliveries, `deploy` make and change sources, workflows and components. The key is shown this once.',
  arguments: [{ name: 'name', summary: 'What it is for.' }],
  options: [
    {
      name: 'scope',
      value: 'scope',
      choices: KEY_SCOPES,
      repeatable: true,
      summary: 'What it may do; several times for several. Default: full.',
    },
    { name: 'resource', value: 'id', summary: 'The one source, workflow or webhook that it reaches. Default: all.' },
    { name: 'expires', value: 'time', summary: 'When it ends, as 2027-01-31 or 2027-01-31T12:00Z. Default: never.' },
  ],
  examples: [
    { does: 'For a dashboard', command: 'hw keys create dashboard --scope read' },
    { does: 'For a pipeline', command: 'hw keys create ci --scope deploy' },
    { does: 'For a sender, until February', command: 'hw keys create shop --scope publish --expires 2027-02-01' },
  ],
  json: 'the key, as `POST /v1/api_keys` answers it',
  exits: SERVER_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const [scopes, expires, resource] = [input.list('scope'), momentOf(input, 'expires'), input.text('resource')];
    const made = await api.send<ApiKey & { api_key: string }>('POST', '/api_keys', {
      name: input.argument('name'),
      ...(scopes.length === 0 ? {} : { scopes }),
      ...(resource === undefined ? {} : { resource }),
      ...(expires === undefined ? {} : { expires_at: Math.floor(expires / 1000) }),
    });
    const text = `Key ${made.name} (${made.id}, ${made.scopes.join(', ')}). It is not shown again:\n${made.api_key}`;
    return { json: made, text, quiet: made.api_key };
  },
};

const list: CommandSpec = {
  path: 'keys list',
  aliases: ['ls'],
  summary: 'The API keys of the account, without the keys themselves',
  examples: [{ does: 'All of them', command: 'hw keys list' }],
  json: 'an array of { id, name, hint, scopes, created_at, expires_at, revoked_at, resource, last_used_at }',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const rows = await (await api()).all<ApiKey>('/api_keys');
    const text = output.table(rows, [
      { title: 'NAME', value: (row) => row.name },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'KEY', value: (row) => `…${row.hint}` },
      { title: 'SCOPES', value: (row) => row.scopes.join(', ') + (row.resource === null ? '' : ` on ${row.resource}`) },
      { title: 'STATE', value: stateOf },
      { title: 'EXPIRES', value: (row) => (row.expires_at === null ? 'never' : ofSeconds(row.expires_at)) },
      { title: 'LAST USED', value: (row) => (row.last_used_at === null ? 'never' : ofSeconds(row.last_used_at)) },
      { title: 'CREATED', value: (row) => ofSeconds(row.created_at) },
    ]);
    return { json: rows, text };
  },
};

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt * 1000 <= Date.now() ? 'expired' : 'active';
}

const rotate: CommandSpec = {
  path: 'keys rotate',
  summary: 'Replace an API key by a new one like it; the old one works on for a while',
  details: 'The new key is shown this once.',
  arguments: [{ name: 'id', summary: 'The id of the key (`key_…`).' }],
  options: [
    { name: 'overlap-hours', value: 'hours', summary: 'How long the old key works on, 0 to 2160. Default: 24.' },
  ],
  examples: [{ does: 'A week to change over', command: 'hw keys rotate key_1vZ8kQ0aB3xYpL9mWc2T --overlap-hours 168' }],
  json: 'the new key, as `POST /v1/api_keys/{id}/rotate` answers it',
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const hours = input.count('overlap-hours', { min: 0, max: 90 * 24 });
    const path = `/api_keys/${encodeURIComponent(input.argument('id'))}/rotate`;
    const body = hours === undefined ? {} : { overlap_hours: hours };
    const made = await (await api()).send<ApiKey & { api_key: string }>('POST', path, body);
    return {
      json: made,
      text: `Key ${made.name} (${made.id}). It is not shown again:\n${made.api_key}`,
      quiet: made.api_key,
    };
  },
};

const revoke: CommandSpec = {
  path: 'keys revoke',
  aliases: ['rm'],
  summary: 'Revoke an API key; it is refused within five seconds',
  arguments: [{ name: 'id', summary: 'The id of the key (`key_…`).' }],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw keys revoke key_1vZ8kQ0aB3xYpL9mWc2T -y' }],
  json: '{ id, revoked }',
  exits: NAMING_EXITS,
  async run(context) {
    const id = context.input.argument('id');
    const api = await context.api();
    await confirmDeletion(context, `Revoke the key ${id}? Programs that use it are refused.`);
    await api.send('DELETE', `/api_keys/${encodeURIComponent(id)}`);
    return { json: { id, revoked: true }, text: `${id} is revoked.`, quiet: '' };
  },
};

export const keyCommands: readonly CommandSpec[] = [create, list, rotate, revoke];
