import { type ApiClient, making } from '../api/client.ts';
import type { Component, Source } from '../api/resources.ts';
import { namingLocally } from '../bundle/name-locally.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { existingSource } from '../names/existing-source.ts';
import { givenProps } from '../props/given-props.ts';
import { PROP_OPTIONS } from '../props/read-props.ts';
import { describePlaces } from './describe-source.ts';
import { DURABILITY_OPTION, PREFLIGHT_OPTION } from './endpoint-options.ts';
import { askForComponent, type ComponentChoice, isSameComponent, saveComponent } from './which-component.ts';

export const deploy: CommandSpec = {
  path: 'deploy',
  summary: 'Deploy a source, or update the one of that name',
  details:
    'From a file, from a component of your account or the registry by its key, or from an https URL. TypeScript works as it is. Its hooks `deploy` and `activate` have run when the command ends. A source of that name is updated: props that are not named stay, and the same code with the same props changes nothing. Without --name it is the source with the name of the component, if it was made of a component with that key. --new makes another one.',
  arguments: [
    {
      name: 'what',
      summary:
        'A file, a key (`key@version` for one version), a URL, or the id of a saved component. With --ingest a name.',
      completes: 'files',
    },
  ],
  options: [
    { name: 'ingest', summary: 'A source without a component, for events that `hw events publish` and the API bring.' },
    { name: 'name', value: 'name', summary: "What the source is called. Else the component's name." },
    { name: 'new', summary: 'Make another source, also where one of that name is there.' },
    PREFLIGHT_OPTION,
    DURABILITY_OPTION,
    ...PROP_OPTIONS,
  ],
  examples: [
    { does: 'A file', command: 'hw deploy orders.mjs' },
    {
      does: 'From the registry, with values for its props',
      command: 'hw deploy schedule-timer --name nightly --prop timer="0 3 * * *"',
    },
    {
      does: 'In CI: the second time changes nothing',
      command: 'hw deploy orders.mjs --name orders --json | jq .outcome',
    },
    { does: 'A source for events without code', command: 'hw deploy --ingest orders' },
    { does: 'A timer that ticks each minute', command: 'hw deploy poll.ts --prop timer=60' },
  ],
  json: 'the source, as `POST /v1/sources` answers it, with `outcome`: `created`, `updated` or `unchanged`',
  exits: COMPONENT_EXITS,
  async run(context) {
    const { input, workDir } = context;
    const ingest = input.flag('ingest');
    if (ingest && input.text('name') !== undefined)
      throw usageError('With --ingest the argument is the name: leave out --name');
    const what = input.argument('what');
    const choice = ingest ? undefined : await askForComponent(what, workDir);
    const api = await context.api();
    const { source, outcome } = await namingLocally(what, () =>
      choice === undefined ? deployIngest(context, api) : deployComponent(context, api, choice),
    );
    return { json: { ...source, outcome }, text: report(source, outcome, ingest), quiet: source.id };
  },
};

type Outcome = 'created' | 'updated' | 'unchanged';

interface Deployed {
  source: Source;
  outcome: Outcome;
}

/** The server writes the component of such a source itself. */
const INGEST_BEGINS = '// Events come from POST /v1/sources/{id}/events';

async function deployIngest({ input }: CommandContext, api: ApiClient): Promise<Deployed> {
  const name = input.argument('what');
  const there = input.flag('new') ? undefined : await existingSource(api, name);
  if (there !== undefined) {
    const { code = '' } = await api.get<Component>(`/components/${there.component_id}`);
    if (!code.startsWith(INGEST_BEGINS))
      throw new CliError('failure', `${name} is a source with code`, { hint: 'Choose another name' });
    return { source: there, outcome: 'unchanged' };
  }
  const source = await making(() => api.send<Source>('POST', '/sources', { kind: 'ingest', name }));
  return { source, outcome: 'created' };
}

async function deployComponent(context: CommandContext, api: ApiClient, given: ComponentChoice): Promise<Deployed> {
  const { input, output } = context;
  const { choice, there } = await findExisting(api, given, input);
  if (there !== undefined) return bringUpToDate(context, api, choice, there);
  const parameters = await givenProps(context, api, { choice });
  const body = { ...parameters, name: input.text('name'), ...endpointSettings(input) };
  const source = await output.progress(`Deploying ${choice.described}`, () =>
    making(() => api.send<Source>('POST', '/sources', body)),
  );
  return { source, outcome: 'created' };
}

function endpointSettings(input: CommandContext['input']) {
  return { preflight: input.text('preflight'), durability: input.text('durability') };
}

/** By its name, or by name and key of its component where no name is given. */
async function findExisting(
  api: ApiClient,
  choice: ComponentChoice,
  input: CommandContext['input'],
): Promise<{ choice: ComponentChoice; there?: Source | undefined }> {
  const name = input.text('name');
  if (input.flag('new')) return { choice };
  if (name !== undefined) return { choice, there: await existingSource(api, name) };
  const component = await saveComponent(api, choice);
  // Without a key the same code would be saved once more.
  const isSaved = (choice.parameters['component_code'] ?? choice.parameters['component_url']) !== undefined;
  const saved = isSaved ? { ...choice, parameters: { component_id: component.id } } : choice;
  const found = await existingSource(api, component.name);
  if (found === undefined) return { choice: saved };
  const { key, code } = await api.get<Component>(`/components/${found.component_id}`);
  if (key !== component.key) return { choice: saved };
  const isSame = code === component.code && isSaved;
  return { choice: isSame ? { ...saved, parameters: { component_id: found.component_id } } : saved, there: found };
}

/** A source of the same code keeps its component: saving it again would make a copy. */
async function bringUpToDate(
  context: CommandContext,
  api: ApiClient,
  choice: ComponentChoice,
  { id }: Source,
): Promise<Deployed> {
  const { input, output } = context;
  const before = await api.tagged<Source>(`/sources/${id}`);
  const component = await api.get<Component>(`/components/${before.component_id}`);
  const kept = isSameComponent(component, choice)
    ? { ...choice, parameters: { component_id: before.component_id } }
    : choice;
  const parameters = await givenProps(context, api, { choice: kept, source: before });
  const body = { ...parameters, ...endpointSettings(input), if_changed: true };
  await output.progress(`Updating ${before.name_slug}`, () => api.send('PUT', `/sources/${id}`, body));
  const after = await api.tagged<Source>(`/sources/${id}`);
  const { etag, ...source } = after;
  return { source, outcome: etag === before.etag ? 'unchanged' : 'updated' };
}

const VERBS = { created: 'Deployed', updated: 'Updated', unchanged: 'Nothing to change in' } as const;

function report(source: Source, outcome: Outcome, isIngest: boolean): string {
  const { id, name_slug: slug, active } = source;
  const places = describePlaces(source).map(([what, place]) => `${what}: ${place}`);
  const next = isIngest
    ? `Publish to it: hw events publish ${slug} --data '{"n":1}'`
    : `Follow it: hw events ${slug} -f   hw logs ${slug} -f`;
  const stopped = active ? [] : [`It is stopped. Start it: hw update ${slug} --activate`];
  return [`${VERBS[outcome]} ${slug} (${id})`, ...(isIngest ? [] : places), ...stopped, next].join('\n');
}
