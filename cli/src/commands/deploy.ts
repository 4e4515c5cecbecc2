import { making } from '../api/client.ts';
import type { Source } from '../api/resources.ts';
import { namingLocally } from '../bundle/name-locally.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { givenProps } from '../props/given-props.ts';
import { PROP_OPTIONS } from '../props/read-props.ts';
import { describePlaces } from './describe-source.ts';
import { PREFLIGHT_OPTION } from './preflight-option.ts';
import { chooseComponent } from './which-component.ts';

export const deploy: CommandSpec = {
  path: 'deploy',
  summary: 'Deploy a source',
  details:
    'From a file, from a component of your account or the registry by its key, or from an https URL. TypeScript works as it is. Its hooks `deploy` and `activate` have run when the command ends.',
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
    PREFLIGHT_OPTION,
    ...PROP_OPTIONS,
  ],
  examples: [
    { does: 'A file', command: 'hw deploy orders.mjs' },
    {
      does: 'From the registry, with values for its props',
      command: 'hw deploy schedule-timer --name nightly --prop timer="0 3 * * *"',
    },
    { does: 'A source for events without code', command: 'hw deploy --ingest orders' },
    { does: 'A timer that ticks each minute', command: 'hw deploy poll.ts --prop timer=60' },
  ],
  json: 'the source, as `POST /v1/sources` answers it',
  exits: COMPONENT_EXITS,
  async run(context) {
    const { input, output, workDir } = context;
    if (input.flag('ingest')) return deployIngest(context);
    const choice = await chooseComponent(input.argument('what'), workDir);
    const api = await context.api();
    const { described } = choice;
    const [name, preflight] = [input.text('name'), input.text('preflight')];
    const source = await namingLocally(described, async () => {
      const parameters = await givenProps(context, api, { choice });
      const body = {
        ...parameters,
        ...(name === undefined ? {} : { name }),
        ...(preflight === undefined ? {} : { preflight }),
      };
      return output.progress(`Deploying ${described}`, () => making(() => api.send<Source>('POST', '/sources', body)));
    });
    const places = describePlaces(source).map(([what, place]) => `\n${what}: ${place}`);
    return {
      json: source,
      text: `Deployed ${source.name_slug} (${source.id})${places.join('')}\nFollow it: hw events ${source.name_slug} -f   hw logs ${source.name_slug} -f`,
      quiet: source.id,
    };
  },
};

async function deployIngest({ api: connect, input }: CommandContext) {
  if (input.text('name') !== undefined) throw usageError('With --ingest the argument is the name: leave out --name');
  const api = await connect();
  const body = { kind: 'ingest', name: input.argument('what') };
  const source = await making(() => api.send<Source>('POST', '/sources', body));
  return {
    json: source,
    text: `Deployed ${source.name_slug} (${source.id})\nPublish to it: hw events publish ${source.name_slug} --data '{"n":1}'`,
    quiet: source.id,
  };
}
