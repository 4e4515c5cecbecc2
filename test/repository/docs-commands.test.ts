import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { allCommands, GROUPS } from '../../cli/src/commands/all-commands.ts';

const DOCS = new URL('../../docs/', import.meta.url);

/** Paths of commands, with every alias of a group in the place of its name. */
function knownPaths(): Set<string> {
  const paths = new Set<string>(['help', ...GROUPS.flatMap(({ name, aliases = [] }) => [name, ...aliases])]);
  for (const { path, aliases = [] } of allCommands()) {
    const [first = '', ...rest] = path.split(' ');
    const { aliases: ofGroup = [] } = GROUPS.find(({ name }) => name === first) ?? {};
    for (const head of [first, ...ofGroup]) paths.add([head, ...rest].join(' '));
    const group = rest.length === 0 ? [] : [first];
    for (const alias of aliases) paths.add([...group, alias].join(' '));
  }
  return paths;
}

test('every command of hw that a page names is there', async () => {
  const known = knownPaths();
  const missing: string[] = [];
  for (const name of (await readdir(DOCS)).filter((file) => file.endsWith('.md'))) {
    const text = await readFile(new URL(name, DOCS), 'utf8');
    // In ticks, or at the beginning of a line, of a pipe or of a substitution.
    for (const [, first = '', second = ''] of text.matchAll(/(?:`|^|\| |\$\()hw ([a-z][\w-]*)(?: ([a-z][\w-]*))?/gm)) {
      if (!known.has(first) && !known.has(`${first} ${second}`)) missing.push(`${name}: hw ${first} ${second}`);
      const isGroup = GROUPS.some(({ name: group, aliases = [] }) => [group, ...aliases].includes(first));
      if (isGroup && second !== '' && !known.has(`${first} ${second}`)) missing.push(`${name}: hw ${first} ${second}`);
    }
  }
  expect(missing).toEqual([]);
});
