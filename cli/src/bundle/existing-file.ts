import { nearest } from '@headwater/shared';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type CliError, usageError } from '../cli-error.ts';
import { COMPONENT_FILE } from './component-file.ts';

/**
 * Path of a component's file. Throws if it is missing, with similar file names, or if it is a
 * folder, with its files.
 */
export async function existingFile(file: string, word: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw await noFile(file, word);
  if (!found.isDirectory()) return file;
  const inside = await componentsIn(file);
  const hint = inside.length === 0 ? 'Name the file of the component' : `Name one: ${inside.slice(0, 5).join(', ')}`;
  throw usageError(`${word} is a folder`, hint);
}

async function noFile(file: string, word: string): Promise<CliError> {
  const similar = nearest(path.basename(file), await componentsIn(path.dirname(file)));
  const hint = similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : 'hw init source <name> makes one';
  return usageError(`There is no file ${word}`, hint);
}

async function componentsIn(folder: string): Promise<string[]> {
  // A folder that is not there has none.
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => COMPONENT_FILE.test(name));
}
