import type { OAuthClient } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { confirmDeletion, YES } from './delete.ts';

const CLIENTS = '/users/me/oauth_clients';

const INSTANCE: OptionSpec = {
  name: 'instance',
  summary: 'The client of the instance, for accounts without one of their own. Takes the key of the operator.',
};

/** Its path, and how a sentence names it. */
function clientOf({ input }: CommandContext, slug: string): { path: string; title: string } {
  const app = encodeURIComponent(slug);
  return input.flag('instance')
    ? { path: `/apps/${app}/oauth_client`, title: `instance’s OAuth client of ${slug}` }
    : { path: `${CLIENTS}/${app}`, title: `OAuth client of ${slug}` };
}

const list: CommandSpec = {
  path: 'apps clients',
  summary: 'Your own OAuth clients; secrets are never shown',
  examples: [{ does: 'All of them', command: 'hw apps clients' }],
  json: 'an array of OAuth clients',
  exits: SERVER_EXITS,
  async run({ output, api: connect }) {
    const rows = await (await connect()).get<OAuthClient[]>(CLIENTS);
    if (rows.length === 0) output.note('There are none. To set one: hw apps set-client <app> --client-id <id>');
    const text = output.table(rows, [
      { title: 'APP', whole: true, value: ({ app }) => app.name_slug },
      { title: 'CLIENT ID', value: ({ client_id: id }) => id },
      { title: 'SECRET', value: ({ has_secret: has }) => (has ? 'stored' : 'none') },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const set: CommandSpec = {
  path: 'apps set-client',
  summary: 'Set your own OAuth client for an app, or that of the instance',
  details:
    'Your own client goes before that of the instance. The secret is asked for at a terminal, else read from standard input, without the line break at its end. It is stored encrypted and never shown again. Register <public URL>/oauth/callback as the redirect URI at the provider.',
  arguments: [{ name: 'app', summary: 'Its slug.' }],
  options: [
    { name: 'client-id', value: 'id', summary: 'The id of the client at the provider.' },
    { name: 'public', summary: 'A public client, which has no secret.' },
    INSTANCE,
  ],
  examples: [
    { does: 'Asks for the secret', command: 'hw apps set-client github --client-id 0a1b2c' },
    { does: 'From a file', command: 'hw apps set-client github --client-id 0a1b2c < secret.txt' },
    {
      does: 'For all accounts without one of their own, as the operator',
      command: 'HEADWATER_API_KEY=$HEADWATER_ADMIN_KEY hw apps set-client github --client-id 0a1b2c --instance',
    },
  ],
  json: 'the OAuth client',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const slug = input.argument('app');
    const id = input.text('client-id');
    if (id === undefined) throw usageError('Name the client: --client-id <id>', 'The provider of the app shows it');
    const api = await context.api();
    const secret = input.flag('public') ? {} : { client_secret: await readSecret(context, slug) };
    const { path, title } = clientOf(context, slug);
    const made = await api.send<OAuthClient>('PUT', path, { client_id: id, ...secret });
    return { json: made, text: `The ${title} is set.`, quiet: '' };
  },
};

async function readSecret({ ask, readStdin }: CommandContext, slug: string): Promise<string> {
  if (ask.possible) return ask.secret(`Client secret of ${slug}`);
  const secret = (await readStdin()).replace(/\r?\n$/, '');
  if (secret === '') throw usageError('Standard input holds no secret', 'For a public client: --public');
  return secret;
}

const remove: CommandSpec = {
  path: 'apps delete-client',
  summary: 'Delete your own OAuth client for an app, or that of the instance',
  details: 'Accounts that were connected with it get no new tokens.',
  arguments: [{ name: 'app', summary: 'Its slug.' }],
  options: [INSTANCE, YES],
  examples: [{ does: 'Without a question', command: 'hw apps delete-client github -y' }],
  json: '{ app, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const slug = context.input.argument('app');
    const api = await context.api();
    const { path, title } = clientOf(context, slug);
    await confirmDeletion(context, `Delete the ${title}?`);
    await api.send('DELETE', path);
    return { json: { app: slug, deleted: true }, text: `The ${title} is deleted.`, quiet: '' };
  },
};

export const appClientCommands: readonly CommandSpec[] = [list, set, remove];
