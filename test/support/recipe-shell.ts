import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CliUser } from './cli.ts';

/**
 * The part of a shell that the pages need: words in quotes, `$NAME`, `$(hw …)`, `NAME=$(…)`,
 * `echo … | hw …`. `hw` runs in this process, which is a third of a second less for each command;
 * `curl` is the real one.
 */
export interface RecipeShell {
  variables: Record<string, string>;
  /** Runs a line and answers its output; throws where it fails. */
  run(line: string): Promise<string>;
}

export function createRecipeShell(user: Pick<CliUser, 'hw'>): RecipeShell {
  const variables: Record<string, string> = {};

  async function run(line: string): Promise<string> {
    const [, name = '', inner = ''] = /^([A-Z_]+)=\$\((.*)\)$/.exec(line) ?? [];
    if (name !== '') {
      variables[name] = (await run(inner)).trim();
      return '';
    }
    const [, said = '', piped] = /^echo '(.*?)' \| (.*)$/.exec(line) ?? [];
    const [program = '', ...args] = await wordsOf(piped ?? line);
    if (program === 'curl') return (await promisify(execFile)('curl', args)).stdout;
    if (program !== 'hw') throw new Error(`The test does not know how to run: ${line}`);
    const { code, stdout, stderr } = await user.hw(args, said === '' ? {} : { stdin: said });
    if (code !== 0) throw new Error(`${line}\nended with ${code}: ${stderr}`);
    const [endpoint] = /https?:\/\/\S+\/e\/[\w-]+/.exec(`${stdout}${stderr}`) ?? [];
    if (endpoint !== undefined) variables['ENDPOINT'] = endpoint;
    return stdout;
  }

  async function wordsOf(line: string): Promise<string[]> {
    const words: string[] = [];
    for (const [, single, double, bare] of line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
      if (single !== undefined) words.push(single);
      else words.push(await filledIn(double ?? bare ?? ''));
    }
    return words;
  }

  async function filledIn(word: string): Promise<string> {
    const [, inner] = /^\$\((.*)\)$/.exec(word) ?? [];
    if (inner !== undefined) return (await run(inner)).trim();
    return word.replaceAll(/\$([A-Z_]+)/g, (_, name: string) => {
      const value = variables[name];
      if (value === undefined) throw new Error(`Nothing has set $${name}`);
      return value;
    });
  }

  return { variables, run };
}
