import type { CheckedAccount, ConnectedAccount } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import { confirmDeletion, YES } from './delete.ts';
import { readEvent } from './run.ts';

const ACCOUNT = { name: 'account', summary: 'The id of the connected account (`apn_…`).' };
const JSON_SHAPE = 'the account, as `GET /v1/connected_accounts/{id}` answers it';
const pathOf = (id: string) => `/connected_accounts/${encodeURIComponent(id)}`;

function stateOf({ dead, healthy }: ConnectedAccount): string {
  if (dead) return 'to be connected anew';
  return healthy ? 'works' : 'refused';
}

const list: CommandSpec = {
  path: 'accounts list',
  aliases: ['ls'],
  summary: 'The connected accounts of apps',
  options: [{ name: 'app', value: 'slug', summary: 'Only those of this app.' }],
  examples: [{ does: 'Those of one app', command: 'hw accounts list --app github' }],
  json: 'an array of connected accounts',
  exits: SERVER_EXITS,
  async run({ api, input, output }) {
    const rows = await (await api()).all<ConnectedAccount>('/connected_accounts', { app: input.text('app') });
    if (rows.length === 0) output.note('None yet. Connect one with: hw connect <app>');
    const text = output.table(rows, [
      { title: 'APP', value: (row) => row.app.name_slug },
      { title: 'NAME', value: (row) => row.name ?? row.oauth_uid ?? '' },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'STATE', value: stateOf },
      { title: 'CREATED', value: (row) => ofSeconds(row.created_at) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const show: CommandSpec = {
  path: 'accounts show',
  summary: 'A connected account, without its credentials',
  arguments: [ACCOUNT],
  examples: [{ does: 'By id', command: 'hw accounts show apn_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: JSON_SHAPE,
  exits: NAMING_EXITS,
  async run({ api, input, output }) {
    const account = await (await api()).get<ConnectedAccount>(pathOf(input.argument('account')));
    const text = output.fields([
      ['id', account.id],
      ['app', account.app.name],
      ['name', account.name],
      ['user there', account.oauth_uid],
      ['state', stateOf(account)],
    ]);
    return { json: account, text };
  },
};

const update: CommandSpec = {
  path: 'accounts update',
  summary: 'Rename a connected account, or give it other keys',
  details: 'Keys are the values of the fields of the app, as JSON. An app with OAuth is connected anew: hw connect.',
  arguments: [ACCOUNT],
  options: [
    { name: 'name', value: 'text', summary: 'What it is called from now on.' },
    {
      name: 'keys',
      value: 'file',
      summary: 'JSON of the new keys; `-` reads it from standard input.',
      completes: 'files',
    },
  ],
  examples: [
    { does: 'Another name', command: 'hw accounts update apn_1vZ8kQ0aB3xYpL9mWc2T --name production' },
    { does: 'Other keys', command: 'hw accounts update apn_1vZ8kQ0aB3xYpL9mWc2T --keys - < keys.json' },
  ],
  json: JSON_SHAPE,
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const name = input.text('name');
    const credentials = await readEvent(context, 'keys');
    if (name === undefined && credentials === undefined) throw usageError('Give --name or --keys');
    const body = { ...(name === undefined ? {} : { name }), ...(credentials === undefined ? {} : { credentials }) };
    const api = await context.api();
    const account = await api.send<ConnectedAccount>('PUT', pathOf(input.argument('account')), body);
    return { json: account, text: `${account.id} is changed.`, quiet: account.id };
  },
};

const check: CommandSpec = {
  path: 'accounts check',
  summary: 'Ask the provider whether it still accepts the credentials of a connected account',
  arguments: [ACCOUNT],
  examples: [{ does: 'By id', command: 'hw accounts check apn_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: `${JSON_SHAPE}, with \`check\`: { conclusive, detail }`,
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const account = await (await api()).send<CheckedAccount>('POST', `${pathOf(input.argument('account'))}/check`);
    return { json: account, text: `${account.id} ${stateOf(account)}: ${account.check.detail}`, quiet: account.id };
  },
};

const remove: CommandSpec = {
  path: 'accounts delete',
  aliases: ['rm'],
  summary: 'Delete a connected account, and end its tokens at the provider',
  arguments: [ACCOUNT],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw accounts delete apn_1vZ8kQ0aB3xYpL9mWc2T -y' }],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const id = context.input.argument('account');
    const api = await context.api();
    await confirmDeletion(context, `Delete the connected account ${id}? Components that use it will fail.`);
    await api.send('DELETE', pathOf(id));
    return { json: { id, deleted: true }, text: `${id} is deleted.`, quiet: '' };
  },
};

export const accountCommands: readonly CommandSpec[] = [list, show, update, check, remove];
