import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import { confirmDeletion, YES } from './delete.ts';

interface Stack {
  name: string;
  resources: unknown;
  updated_at: number;
}

const list: CommandSpec = {
  path: 'stacks list',
  aliases: ['ls'],
  summary: 'The stacks of the account: what `hw apply` has made from folders',
  examples: [{ does: 'All of them', command: 'hw stacks list' }],
  json: 'an array of stacks with their resources',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const rows = await (await api()).all<Stack>('/stacks');
    if (rows.length === 0) output.note('None yet. Make one with: hw apply <folder>');
    const text = output.table(rows, [
      { title: 'NAME', whole: true, value: (row) => row.name },
      { title: 'UPDATED', value: (row) => ofSeconds(row.updated_at) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const remove: CommandSpec = {
  path: 'stacks delete',
  aliases: ['rm'],
  summary: 'Forget what was made from a folder; all of it stays',
  arguments: [{ name: 'name', summary: 'The name of the stack.' }],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw stacks delete shop -y' }],
  json: '{ name, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const name = context.input.argument('name');
    const api = await context.api();
    await confirmDeletion(context, `Forget the stack ${name}? What it has made stays.`);
    await api.send('DELETE', `/stacks/${encodeURIComponent(name)}`);
    return { json: { name, deleted: true }, text: `The stack ${name} is forgotten.`, quiet: '' };
  },
};

export const stackCommands: readonly CommandSpec[] = [list, remove];
