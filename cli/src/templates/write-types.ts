import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CliError } from '../cli-error.ts';
import { declareTypes, hasTypes, TYPES_MARK } from './declare-types.ts';

export const TYPES_FILE = 'headwater.d.ts';

/** With one of these in a folder, editors and compilers read what lies in it. */
const PROJECTS = [TYPES_FILE, 'tsconfig.json', 'jsconfig.json'];

/**
 * The folder where a component of `folder` finds its types: where the project begins, so that there
 * is one file of them, else that folder. Undefined where the package is installed, or this hw has
 * no types to write.
 */
export function findTypesPlace(folder: string): string | undefined {
  if (!hasTypes()) return undefined;
  let place: string | undefined;
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'node_modules/@headwater/types'))) return undefined;
    if (PROJECTS.some((name) => existsSync(path.join(at, name)))) place ??= at;
    if (at === path.dirname(at)) return place ?? folder;
  }
}

/** `foreign`: a file of that name exists and was not written by `hw`. */
type TypesOutcome = 'written' | 'same' | 'foreign';

export async function writeTypes(place: string, { force = false } = {}): Promise<TypesOutcome> {
  const file = path.join(place, TYPES_FILE);
  const text = await declareTypes();
  try {
    const before = await readFile(file, 'utf8').catch(() => undefined);
    if (before === text) return 'same';
    if (before !== undefined && !before.startsWith(TYPES_MARK) && !force) return 'foreign';
    await mkdir(place, { recursive: true });
    await writeFile(file, text);
    return 'written';
  } catch (cause) {
    throw new CliError('failure', `${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Reference for JavaScript: an editor reads only the open file and the files that it names.
 * `relative`: path to the types.
 */
export function referenceTo(relative: string): string {
  const folder = relative === '' ? '.' : relative.replaceAll(path.sep, '/');
  return `/// <reference path="${folder}/${TYPES_FILE}" />\n`;
}
