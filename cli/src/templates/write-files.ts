import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CliError } from '../cli-error.ts';
import { TSCONFIG } from './component-templates.ts';

/** `file`: as the user calls it. */
export async function writeNew(absolute: string, file: string, text: string, force: boolean): Promise<void> {
  try {
    await mkdir(path.dirname(absolute), { recursive: true });
    await writeFile(absolute, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new CliError('failure', `${file} is there already`, { hint: 'Replace it with --force' });
    throw new CliError('failure', `${file} cannot be written: ${message}`, { cause });
  }
}

/** One in a folder above serves as well. */
export async function writeTsconfig(workDir: string, file: string): Promise<string[]> {
  for (let folder = path.dirname(path.resolve(workDir, file)); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'tsconfig.json'))) return [];
    if (folder === path.dirname(folder)) break;
  }
  const made = path.join(path.dirname(file), 'tsconfig.json');
  await writeFile(path.resolve(workDir, made), TSCONFIG, { flag: 'wx' });
  return [made];
}
