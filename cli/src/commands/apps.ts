import type { App } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { confirmDeletion, YES } from './delete.ts';
import { readEvent } from './run.ts';

const SIGNS_IN = { none: 'nothing', keys: 'keys', oauth2: 'OAuth' };
const FILE = {
  name: 'file',
  short: 'f',
  value: 'file',
  summary: 'The app as JSON, as `POST /v1/apps` takes it; - for standard input.',
} as const;

const list: CommandSpec = {
  path: 'apps list',
  aliases: ['ls'],
  summary: 'The apps of the catalogue, and your own',
  arguments: [{ name: 'words', summary: 'A part of the slug or the name.', optional: true }],
  options: [{ name: 'private', summary: 'Only your own.' }],
  examples: [
    { does: 'Those with “git” in their names', command: 'hw apps list git' },
    { does: 'Your own', command: 'hw apps list --private' },
  ],
  json: 'an array of apps',
  exits: SERVER_EXITS,
  async run({ input, output, api: connect }) {
    const words = input.optionalArgument('words');
    const all = await (await connect()).all<App>('/apps', words === undefined ? {} : { q: words });
    const rows = input.flag('private') ? all.filter((app) => app.private) : all;
    if (rows.length === 0) output.note('There are none. To define one: hw apps create -f app.json');
    const text = output.table(rows, [
      { title: 'SLUG', whole: true, value: (app) => app.name_slug },
      { title: 'NAME', value: (app) => app.name },
      { title: 'SIGNS IN WITH', value: (app) => SIGNS_IN[app.auth_type] },
      { title: 'PRIVATE', value: (app) => (app.hides_catalogue ? 'yes, hides one' : app.private ? 'yes' : '') },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const create: CommandSpec = {
  path: 'apps create',
  summary: 'Define an app for your account, which no other account sees',
  details:
    'Components use it as they use those of the catalogue: { type: "app", app: "<slug>" }. Its slug must not be one of the catalogue. docs/apps.md describes the file.',
  options: [FILE],
  examples: [{ does: 'From a file; `hw connect acme` is next', command: 'hw apps create -f acme.json' }],
  json: 'the app',
  exits: SERVER_EXITS,
  async run(context) {
    const app = await readApp(context);
    const made = await (await context.api()).send<App>('POST', '/apps', app);
    return { json: made, text: `${made.name} is defined as ${made.name_slug}.`, quiet: made.name_slug };
  },
};

const update: CommandSpec = {
  path: 'apps update',
  summary: 'Replace the definition of an app of your own',
  details: 'What the file leaves out is gone. The slug stays, and so do the accounts that are connected.',
  arguments: [{ name: 'app', summary: 'Its slug.' }],
  options: [FILE],
  examples: [{ does: 'From a file', command: 'hw apps update acme -f acme.json' }],
  json: 'the app',
  exits: NAMING_EXITS,
  async run(context) {
    const slug = context.input.argument('app');
    const { name_slug: given = slug, ...app } = await readApp(context);
    if (given !== slug) throw usageError(`The file is about ${String(given)}, not ${slug}`, 'A slug does not change');
    const made = await (await context.api()).send<App>('PUT', `/apps/${encodeURIComponent(slug)}`, app);
    return { json: made, text: `${made.name} is changed.`, quiet: made.name_slug };
  },
};

const remove: CommandSpec = {
  path: 'apps delete',
  aliases: ['rm'],
  summary: 'Delete an app of your own, to which no account is connected any more',
  arguments: [{ name: 'app', summary: 'Its slug.' }],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw apps delete acme -y' }],
  json: '{ name_slug, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const slug = context.input.argument('app');
    const api = await context.api();
    await confirmDeletion(context, `Delete the app ${slug}?`);
    await api.send('DELETE', `/apps/${encodeURIComponent(slug)}`);
    return { json: { name_slug: slug, deleted: true }, text: `${slug} is deleted.`, quiet: '' };
  },
};

async function readApp(context: CommandContext): Promise<Record<string, unknown>> {
  const app = await readEvent(context, 'file');
  if (typeof app === 'object' && app !== null && !Array.isArray(app)) return { ...app };
  throw usageError(
    app === undefined ? 'Name the file of the app: -f app.json' : 'The file of an app holds a JSON object',
    'docs/apps.md describes it',
  );
}

export const appCommands: readonly CommandSpec[] = [list, create, update, remove];
