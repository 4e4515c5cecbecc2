import path from 'node:path';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { readAccount } from '../stack/account.ts';
import { exportAccount } from '../stack/export-account.ts';
import { STACK_FILES } from '../stack/stack-file.ts';
import { writeNew } from '../templates/write-files.ts';

export const exportFolder: CommandSpec = {
  path: 'export',
  summary: 'Write the account as a folder that `hw apply` takes',
  details:
    'headwater.yaml, and the code of the components beside it. Secrets are not in it: where one is needed, the file names an environment variable. `hw apply` of it changes nothing. docs/as-code.md describes the file.',
  arguments: [{ name: 'folder', summary: 'Default: this one.', optional: true, completes: 'files' }],
  options: [
    { name: 'name', value: 'name', summary: 'The name of the stack. Default: that of the folder.' },
    { name: 'force', summary: 'Replace files that are there.' },
  ],
  examples: [{ does: 'Into a folder of its own', command: 'hw export shop' }],
  json: '{ folder, files, secrets }; secrets are the environment variables that the file names',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output, workDir }) {
    const word = input.optionalArgument('folder') ?? '.';
    const folder = path.resolve(workDir, word);
    const api = await connect();
    const account = await output.progress('Reading the account', () => readAccount(api));
    const { document, files, secrets } = await exportAccount(account);
    const name = input.text('name') ?? (path.basename(folder).replaceAll(/[^\w.-]+/g, '-') || 'default');
    const { stringify } = await import('yaml');
    const written = new Map([[STACK_FILES[0], stringify({ name, ...document }, { lineWidth: 100 })], ...files]);
    for (const [file, text] of written)
      await writeNew(path.join(folder, file), path.join(word, file), text, input.flag('force'));
    const needed = secrets.length === 0 ? '' : `\nSecrets come from the environment: ${secrets.join(', ')}`;
    return {
      json: { folder: word, files: [...written.keys()], secrets },
      text: `Wrote ${[...written.keys()].join(', ')}${needed}\nWhat would change: hw apply ${word} --plan`,
      quiet: word,
    };
  },
};
