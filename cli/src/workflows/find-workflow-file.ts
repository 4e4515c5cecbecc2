import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../cli-error.ts';
import { readJsonFile } from '../props/read-props.ts';
import { STACK_FILES } from '../stack/stack-file.ts';

/**
 * The JSON file of a workflow that a word means: that file, or the only one of a folder. Undefined
 * for other files, and for folders without one.
 */
export async function findWorkflowFile(word: string, workDir: string): Promise<string | undefined> {
  const absolute = path.resolve(workDir, word);
  const found = await stat(absolute).catch(() => undefined);
  if (found === undefined && word.endsWith('.json'))
    throw usageError(`There is no file ${word}`, 'hw init workflow <name> makes one');
  if (found?.isDirectory() !== true) return word.endsWith('.json') ? word : undefined;
  const names = await readdir(absolute);
  const files: string[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')))
    if (await hasSteps(path.join(absolute, name))) files.push(path.join(word, name));
  const [file] = files;
  if (file !== undefined && files.length === 1) return file;
  if (files.length > 1) throw usageError(`${word} has several workflows`, `Name one: ${files.join(', ')}`);
  if (STACK_FILES.some((name) => names.includes(name)))
    throw usageError(`${word} is a folder of hw apply`, `What would change: hw apply ${word} --plan`);
  return undefined;
}

/** Other JSON files lie in such folders as well, and some of them are no JSON. */
async function hasSteps(file: string): Promise<boolean> {
  const workflow = await readJsonFile(file, file).catch(() => undefined);
  return Array.isArray(workflow?.['steps']);
}
