import type { ApiClient } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import { type Kind, KINDS } from '../names/named-kinds.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { findComponent, splitKey } from './which-component.ts';

export const YES: OptionSpec = {
  name: 'yes',
  short: 'y',
  summary: 'Do not ask. Nothing is asked away from a terminal.',
};

export const deleteAny: CommandSpec = {
  path: 'delete',
  aliases: ['rm'],
  summary: 'Delete a source, workflow, webhook or saved component',
  details:
    'The hook `deactivate` of a source runs first. Its events go with it. A component that sources use stays, and so does what is published in the registry: hw unpublish.',
  arguments: [
    {
      name: 'name',
      summary: 'What to delete, by id or name; a component by id, key or `key@version`.',
      completes: { names: ['sources', 'workflows', 'webhooks', 'components'] },
    },
  ],
  options: [YES, IF_MATCH],
  examples: [
    { does: 'Asks at a terminal', command: 'hw delete orders' },
    { does: 'Does not ask', command: 'hw delete orders --yes' },
    { does: 'One version of a component', command: 'hw delete acme-orders@0.1.0' },
  ],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const name = context.input.argument('name');
    if (name.startsWith('sc_')) return deleteComponent(context, await context.api(), name);
    try {
      return await deleteNamed(context, ['source', 'workflow', 'webhook']);
    } catch (error) {
      if (!(error instanceof CliError) || error.exit !== 'notFound') throw error;
      const api = await context.api();
      if ((await findComponent(api, ['components'], name)) === undefined) throw error;
      return deleteComponent(context, api, name);
    }
  },
};

async function deleteComponent(context: CommandContext, api: ApiClient, word: string) {
  const { key, version } = splitKey(word);
  await confirmDeletion(context, `Delete the component ${word}?`);
  await api.send('DELETE', `/components/${encodeURIComponent(key)}`, version === undefined ? {} : { version });
  return { json: { id: word, deleted: true }, text: `Deleted the component ${word}.`, quiet: '' };
}

/** Finds, asks, deletes. */
export async function deleteNamed(context: CommandContext, kinds: readonly Kind[]) {
  const { input, output } = context;
  const name = input.argument('name');
  const onlyIf = ifMatchHeader(context);
  const api = await context.api();
  const { kind, id } = await findNamed(api, kinds, name);
  await confirmDeletion(context, `Delete the ${kind} ${name}?`);
  await output.progress(`Deleting ${name}`, () => api.send('DELETE', `${KINDS[kind].path}/${id}`, {}, onlyIf));
  return {
    json: { id, deleted: true },
    text: `Deleted the ${kind} ${name === id ? id : `${name} (${id})`}.`,
    quiet: '',
  };
}

export function confirmDeletion(context: CommandContext, question: string): Promise<void> {
  return confirmed(context, question, 'Nothing was deleted');
}

/** Asks at a terminal, without --yes. Throws with `otherwise` where the answer is no. */
export async function confirmed(
  { input, ask, output }: CommandContext,
  question: string,
  otherwise: string,
): Promise<void> {
  if (input.flag('yes') || !ask.possible || output.json) return;
  if (!(await ask.confirm(question))) throw new CliError('failure', otherwise);
}
