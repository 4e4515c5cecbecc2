import type { App } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { connectAccount } from '../props/connect-account.ts';

export const connect: CommandSpec = {
  path: 'connect',
  summary: 'Connect an account of an app, for the props of components',
  details:
    'The fields of the app are asked for at a terminal, else read from standard input as a JSON object. Where the app can test its keys they are tested, and what is refused is not kept. An app with OAuth shows a link for the browser and waits.',
  arguments: [{ name: 'app', summary: 'The slug of the app.' }],
  options: [
    {
      name: 'name',
      value: 'text',
      summary: 'What the account is called, to tell it from others. Default: it is asked for.',
    },
  ],
  examples: [
    { does: 'Asks for the name and the keys', command: 'hw connect github' },
    { does: 'From a file', command: 'hw connect acme --name production < keys.json' },
  ],
  json: 'the account, as `POST /v1/connected_accounts` answers it; after a test with `check`: { conclusive, detail }',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const slug = input.argument('app');
    const api = await context.api();
    const app = await api.get<App>(`/apps/${encodeURIComponent(slug)}`);
    if (app.auth_type === 'none')
      throw new CliError('failure', `${app.name} needs no account`, { code: 'NO_ACCOUNT_NEEDED' });
    const made = await connectAccount(context, api, app, input.text('name'));
    const called = made.name === null ? '' : ` as ${made.name}`;
    return { json: made, text: `Connected ${app.name}${called} (${made.id})`, quiet: made.id };
  },
};
