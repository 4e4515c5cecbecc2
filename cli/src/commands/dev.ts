import path from 'node:path';
import type { Source } from '../api/resources.ts';
import { existingFile } from '../bundle/existing-file.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import { createSession } from '../dev/session.ts';
import { keepDeployed } from '../dev/keep-deployed.ts';
import { findNamed } from '../names/find-named.ts';
import { PROP_OPTIONS } from '../props/read-props.ts';

export const dev: CommandSpec = {
  path: 'dev',
  summary: 'Work on a source: deploy it, again on each save, and follow its events and logs',
  details:
    'Watches the file and every file that it imports. Where a save cannot be used, the last good version goes on running. Ctrl-C ends the watch and leaves the source deployed.',
  arguments: [{ name: 'file', summary: 'The file of the component.', completes: 'files' }],
  options: [
    {
      name: 'dc',
      value: 'source',
      summary: 'Go on with a source that is there, by id or name.',
      completes: { names: ['sources'] },
    },
    { name: 'name', value: 'name', summary: "What the source is called. Else the component's name." },
    ...PROP_OPTIONS,
  ],
  examples: [
    { does: 'A new source', command: 'hw dev orders.mjs' },
    { does: 'Go on with it another day', command: 'hw dev orders.mjs --dc orders' },
  ],
  json: 'one record a line: `{ deployed }`, `{ broken }`, `{ event }` or `{ log }`, each with what it is about',
  exits: [...COMPONENT_EXITS, 'interrupted'],
  async run(context) {
    const { input, output, signal, workDir } = context;
    const word = input.argument('file');
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
