import path from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CommandSpec } from '../command.ts';
import { findTypesPlace, TYPES_FILE, writeTypes } from '../templates/write-types.ts';

export const initTypes: CommandSpec = {
  path: 'init types',
  summary: 'Write the types of @headwater/types for your editor, or bring them up to date',
  details: `Every \`hw init\` does it too. The file is \`${TYPES_FILE}\`; a folder above that has one, or a tsconfig.json, is taken instead. Where the package itself is in node_modules, nothing is written.`,
  arguments: [{ name: 'folder', summary: 'Default: this one.', optional: true, completes: 'files' }],
  options: [{ name: 'force', summary: 'Replace a file of that name that hw has not made.' }],
  examples: [{ does: 'For components that are there already', command: 'hw init types' }],
  json: '{ files: [paths] }: the file, where it was made or changed',
  async run({ input, workDir }) {
    const place = findTypesPlace(path.resolve(workDir, input.optionalArgument('folder') ?? '.'));
    const made = place === undefined ? 'absent' : await writeTypes(place, { force: input.flag('force') });
    if (made === 'foreign') {
      throw new CliError('failure', `${TYPES_FILE} is there, and hw has not made it`, {
        hint: 'Replace it with --force',
      });
    }
    const file = path.join(path.relative(workDir, place ?? ''), TYPES_FILE);
    const files = made === 'written' ? [file] : [];
    const texts = {
      written: `Made ${file}`,
      same: `${file} is up to date`,
      absent: '@headwater/types is installed, or not there beside this hw: nothing was written',
    };
    return { json: { files }, text: texts[made], quiet: files.join('\n') };
  },
};
