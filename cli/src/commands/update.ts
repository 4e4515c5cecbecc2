import type { ApiClient } from '../api/client.ts';
import type { Source, Workflow } from '../api/resources.ts';
import { namingLocally } from '../bundle/name-locally.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import { givenProps } from '../props/given-props.ts';
import { PROP_OPTIONS, readProps, typesOf } from '../props/read-props.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { DURABILITY_OPTION, PREFLIGHT_OPTION } from './endpoint-options.ts';
import { askForComponent } from './which-component.ts';

export const update: CommandSpec = {
  path: 'update',
  summary: 'Change the code, props or name of a source, stop or start a source or workflow',
  details:
    'What is not named stays as it is, secrets too; a prop with the value null is removed. Where the new code does not start, the old one is put back. The steps of a workflow are changed by `hw workflows update`.',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [
    {
      name: 'code',
      value: 'what',
      summary: 'New code: a file, a key, a URL, or the id of a saved component.',
      completes: 'files',
    },
    { name: 'name', value: 'name', summary: 'Another name.' },
    { name: 'activate', summary: 'Start it again.' },
    { name: 'deactivate', summary: 'Stop it.' },
    PREFLIGHT_OPTION,
    DURABILITY_OPTION,
    ...PROP_OPTIONS,
    IF_MATCH,
  ],
  examples: [
    { does: 'New code', command: 'hw update orders --code orders.mjs' },
    { does: 'Another value of a prop', command: 'hw update orders --prop currency=CHF' },
    { does: 'Stop it', command: 'hw update orders --deactivate' },
    { does: 'Only what was looked at', command: 'hw update orders --code orders.mjs --if-match 3' },
  ],
  json: 'the source or workflow, as `PUT` answers it',
  exits: COMPONENT_EXITS,
  async run(context) {
    const { input, output } = context;
    const change = readChange(context);
    const onlyIf = ifMatchHeader(context);
    const word = input.argument('name');
    const api = await context.api();
    const { kind, id } = await findNamed(api, ['source', 'workflow'], word);
    if (kind === 'workflow') refuseOnWorkflow(context);
    const isPlain = kind === 'workflow' || (input.text('code') === undefined && !hasProps(input));
    const updated = await namingLocally(input.text('code') ?? '', async () => {
      const body = isPlain ? change : { ...change, ...(await newParameters(context, api, id)) };
      return output.progress(`Updating ${word}`, () =>
        api.send<Source | Workflow>('PUT', `/${kind}s/${id}`, body, onlyIf),
      );
    });
    const state = updated.active ? 'active' : 'stopped';
    return {
      json: updated,
      text: `Updated ${updated.name_slug ?? updated.name} (${id}), which is ${state}.`,
      quiet: id,
    };
  },
};

function readChange({ input }: CommandContext): Record<string, unknown> {
  const [activate, deactivate] = [input.flag('activate'), input.flag('deactivate')];
  if (activate && deactivate) throw usageError('--activate and --deactivate exclude each other');
  const [name, preflight] = [input.text('name'), input.text('preflight')];
  const durability = input.text('durability');
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(preflight === undefined ? {} : { preflight }),
    ...(durability === undefined ? {} : { durability }),
    ...(activate ? { active: true } : {}),
    ...(deactivate ? { active: false } : {}),
  };
  if (Object.keys(change).length === 0 && input.text('code') === undefined && !hasProps(input)) {
    throw usageError('Nothing to change was named', 'See: hw help update');
  }
  return change;
}

function hasProps(input: CommandContext['input']): boolean {
  return input.list('prop').length > 0 || input.text('props') !== undefined;
}

function refuseOnWorkflow({ input }: CommandContext): void {
  if (input.text('preflight') !== undefined)
    throw usageError(
      'Of a workflow it is a setting',
      'settings.preflight in the file of: hw workflows update <name> <file>',
    );
  if (input.text('durability') !== undefined)
    throw usageError('Executions of a workflow are always stored', 'Leave --durability out');
  if (input.text('code') === undefined && !hasProps(input)) return;
  throw usageError(
    'A workflow has no code or props of its own',
    'Its steps are changed by: hw workflows update <name> <file>',
  );
}

/** Parameters for a source. New code may need values that the old code did not. */
async function newParameters(context: CommandContext, api: ApiClient, id: string): Promise<Record<string, unknown>> {
  const { input, workDir } = context;
  const code = input.text('code');
  const choice = code === undefined ? undefined : await askForComponent(code, workDir);
  const source = await api.get<Source>(`/sources/${id}`);
  if (choice !== undefined) return givenProps(context, api, { choice, source });
  return { configured_props: await readProps(input, workDir, typesOf(source.configurable_props)) };
}
