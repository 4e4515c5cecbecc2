import path from 'node:path';
import type { Source } from '../api/resources.ts';
import { existingFile } from '../bundle/existing-file.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { createSession } from '../dev/session.ts';
import { keepDeployed } from '../dev/keep-deployed.ts';
import { RECORDED_OPTIONS } from '../dev/recorded-event.ts';
import { tryWorkflow } from '../dev/try-steps.ts';
import { findNamed } from '../names/find-named.ts';
import { PROP_OPTIONS } from '../props/read-props.ts';
import { findWorkflowFile } from '../workflows/find-workflow-file.ts';
import { rememberStdin } from './run.ts';

export const dev: CommandSpec = {
  path: 'dev',
  summary: 'Work on a source, an action or a workflow: run it again on each save, and see what comes of it',
  details:
    'Watches the file and every file that it imports. A source is deployed at each save, and its events and logs are followed; where a save cannot be used, the last good version goes on running. Ctrl-C ends the watch and leaves the source deployed. An action, and the steps of a workflow, are run at each save with an event that you choose, as `hw workflows test` runs them: requests are made and data stores are written, and nothing is deployed, emitted or sent.',
  arguments: [
    {
      name: 'file',
      summary: 'The file of the component; or the JSON file of a workflow, or its folder.',
      completes: 'files',
    },
  ],
  options: [
    {
      name: 'dc',
      value: 'source',
      summary: 'Go on with a source that is there, by id or name.',
      completes: { names: ['sources'] },
    },
    { name: 'name', value: 'name', summary: "What the source is called. Else the component's name." },
    ...PROP_OPTIONS,
    ...RECORDED_OPTIONS,
  ],
  examples: [
    { does: 'A new source', command: 'hw dev orders.mjs' },
    { does: 'Go on with it another day', command: 'hw dev orders.mjs --dc orders' },
    {
      does: 'An action, with the newest event of a source',
      command: "hw dev charge.mjs --newest orders --prop 'amount={{steps.trigger.event.total}}'",
    },
    {
      does: 'The step of a workflow, with what it got in a past execution',
      command: 'hw dev charge.mjs --event-id exec_1vZ8kQ0a --step charge',
    },
    { does: 'A whole workflow', command: 'hw dev order-intake.json --event order.json' },
  ],
  json: 'one record a line, each with what it is about: `{ deployed }`, `{ broken }`, `{ event }` or `{ log }` of a source, `{ tested }` or `{ broken }` of an action or workflow',
  exits: [...COMPONENT_EXITS, 'interrupted'],
  async run(given) {
    const context = rememberStdin(given);
    const { input, output, signal, workDir } = context;
    const word = input.argument('file');
    const workflow = await findWorkflowFile(word, workDir);
    if (workflow !== undefined) {
      refuseOptions(context, ['dc', 'name', 'prop', 'props'], 'a workflow');
      return tryWorkflow(context, await context.api(), workflow);
    }
    const file = await existingFile(path.resolve(workDir, word), word);
    const api = await context.api();
    const dc = input.text('dc');
    const attached =
      dc === undefined ? undefined : await api.get<Source>(`/sources/${(await findNamed(api, ['source'], dc)).id}`);
    const session = createSession(context, api, { word, attached });
    try {
      return await Promise.race([keepDeployed({ file, ...session, signal }), session.failed]);
    } catch (error) {
      const id = session.sourceId();
      const isEnded = error instanceof CliError && error.exit === 'interrupted';
      if (isEnded && id !== undefined) output.note(`\nIt stays deployed. Go on with: hw dev ${word} --dc ${id}`);
      throw error;
    }
  },
};

/** Options that say nothing here would be passed over in silence. */
function refuseOptions({ input }: CommandContext, names: readonly string[], what: string): void {
  const isGiven = (name: string) => (name === 'prop' ? input.list(name).length > 0 : input.text(name) !== undefined);
  const given = names.find(isGiven);
  if (given !== undefined) throw usageError(`--${given} does not go with ${what}`);
}
