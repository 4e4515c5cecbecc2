import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { allCommands } from '../../cli/src/commands/all-commands.ts';

const FOLDER = 'web/src';

/** Command lines in the code of the UI: whole ones, and the words that `hwLine` is given. */
function commandLines(text: string): string[] {
  const plain = [
    ...text.matchAll(/[`'"]hw ((?:[a-z][a-z-]*|--[a-z-]+|\$\{[^}]*\}|<[a-z]+>|\*|\S+?)(?: [^`'"]*)?)[`'"]/g),
  ];
  const listed = [...text.matchAll(/hw(?:Line|WithInput)\([^[]*\[([^\]]*)\]/g)].map(([, words = '']) =>
    words
      .split(',')
      .map((word) => /^\s*'([\w-]+)'\s*$/.exec(word)?.[1] ?? '${}')
      .join(' '),
  );
  return [...plain.map(([, line = '']) => line), ...listed];
}

test('every command line that a page gives to copy is one of hw', () => {
  const commands = allCommands().toSorted((a, b) => b.path.length - a.path.length);
  const unknown: string[] = [];
  let seen = 0;
  for (const name of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name) || name === 'ui/command.ts') continue;
    for (const line of commandLines(readFileSync(path.join(FOLDER, name), 'utf8'))) {
      seen++;
      const words = line.split(' ');
      // The longest name that fits: `events publish` before `events`.
      const command = commands.find((one) => one.path.split(' ').every((word, at) => words[at] === word));
      const options = [...line.matchAll(/ --([a-z-]+)(?= |$)/g)]
        .map(([, option]) => option)
        .filter((one) => one !== 'json');
      const isKnown =
        command !== undefined && options.every((option) => command.options?.some((one) => one.name === option));
      if (!isKnown) unknown.push(`${name}: hw ${line}`);
    }
  }
  expect(unknown).toEqual([]);
  expect(seen).toBeGreaterThan(60);
});
