import type { EnvironmentVariable } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { confirmDeletion, YES } from './delete.ts';
import { listEnvironment } from './list.ts';

const set: CommandSpec = {
  path: 'env set',
  summary: 'Set an environment variable, which steps of workflows read as {{env.NAME}}',
  details:
    'The value is asked for at a terminal, else read from standard input, without the line break at its end. With NAME=value it is in the list of processes and in the history of the shell: not for secrets. It is stored encrypted and never shown again.',
  arguments: [{ name: 'name', summary: 'NAME, or NAME=value.' }],
  options: [{ name: 'description', value: 'text', summary: 'What it is for.' }],
  examples: [
    { does: 'Asks for the value', command: 'hw env set SHOP_TOKEN' },
    { does: 'From a file', command: 'hw env set SHOP_TOKEN < token.txt' },
    { does: 'Nothing secret', command: 'hw env set REGION=eu' },
  ],
  json: '{ name, description, … }, as `PUT /v1/environment_variables/{name}` answers it',
  exits: SERVER_EXITS,
  async run(context) {
    const { input } = context;
    const word = input.argument('name');
    const at = word.indexOf('=');
    const name = at === -1 ? word : word.slice(0, at);
    if (name === '') throw usageError(`${word} has no name`, 'Write it as NAME=value');
    const api = await context.api();
    const value = at === -1 ? await readValue(context, name) : word.slice(at + 1);
    const description = input.text('description');
    const body = { value, ...(description === undefined ? {} : { description }) };
    const made = await api.send<EnvironmentVariable>('PUT', `/environment_variables/${encodeURIComponent(name)}`, body);
    return { json: made, text: `${name} is set.`, quiet: '' };
  },
};

async function readValue({ ask, readStdin }: CommandContext, name: string): Promise<string> {
  if (ask.possible) return ask.secret(`Value of ${name}`);
  const value = (await readStdin()).replace(/\r?\n$/, '');
  if (value === '')
    throw usageError(`Standard input holds no value of ${name}`, `To set an empty one: hw env set ${name}=`);
  return value;
}

const list: CommandSpec = {
  path: 'env list',
  aliases: ['ls'],
  summary: 'The names of the environment variables; values are never shown',
  examples: [{ does: 'All of them', command: 'hw env list' }],
  json: 'an array of { name, description, … }',
  exits: SERVER_EXITS,
  run: listEnvironment,
};

const remove: CommandSpec = {
  path: 'env delete',
  aliases: ['rm', 'unset'],
  summary: 'Delete an environment variable',
  arguments: [{ name: 'name', summary: 'NAME.' }],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw env delete SHOP_TOKEN -y' }],
  json: '{ name, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const name = context.input.argument('name');
    const api = await context.api();
    await confirmDeletion(context, `Delete the environment variable ${name}?`);
    await api.send('DELETE', `/environment_variables/${encodeURIComponent(name)}`);
    return { json: { name, deleted: true }, text: `${name} is deleted.`, quiet: '' };
  },
};

export const envCommands: readonly CommandSpec[] = [set, list, remove];
