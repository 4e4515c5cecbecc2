import { writeFile } from 'node:fs/promises';
import { allCommands, GROUPS } from '../commands/all-commands.ts';
import { renderReference } from './render-reference.ts';

/* `npm run fix:cli-docs`: makes docs/cli.md what the definitions of the commands say. */

await writeFile(new URL('../../../docs/cli.md', import.meta.url), renderReference(allCommands(), GROUPS));
