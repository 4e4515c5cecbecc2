import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';
import { eventually } from '../support/eventually.ts';
import { readRecipes } from '../support/markdown-recipes.ts';
import { createRecipeShell, type RecipeShell } from '../support/recipe-shell.ts';

const RECIPES = await readRecipes('docs/cookbook.md');
const MOVES = (await readRecipes('docs/from-pipedream.md')).filter(({ shows }) => shows.length > 0);
const world = cliWorld({ shared: true });
const PATIENCE = { timeoutMs: 30_000 };
let shell: RecipeShell;

beforeAll(() => {
  shell = createRecipeShell(world.user);
});

test('there are ten recipes, and each names its result', () => {
  expect(RECIPES).toHaveLength(10);
  expect(RECIPES.filter(({ shows }) => shows.length === 0)).toEqual([]);
});

test.each([...RECIPES, ...MOVES])('$title', async ({ files, commands, shows }) => {
  for (const [name, text] of files) {
    await mkdir(path.dirname(path.join(world.user.workDir, name)), { recursive: true });
    await world.write(name, text);
  }
  await world.user.hw(['receiver', 'clear']);
  for (const command of commands.slice(0, -1)) await (needsWait(command) ? untilDone(command) : shell.run(command));
  const last = commands.at(-1) ?? '';
  let shown = '';
  const missing = () => shows.filter((line) => !shown.includes(plain(line)));
  // A list of events has no more than these: dedupe and filters have dropped the others.
  const isTooMuch = () => last.startsWith('hw events') && shown.trim().split('\n').length > shows.length;
  const look = async () => {
    shown = plain(await shell.run(last));
    return missing().length === 0 && !isTooMuch();
  };
  await eventually(look, PATIENCE).catch(() => undefined);
  expect({ shown, missing: missing(), isTooMuch: isTooMuch() }).toEqual({ shown, missing: [], isTooMuch: false });
});

test('the quick start ends in a delivered event', async () => {
  const sections = await readRecipes('docs/quick-start.md');
  const commands = sections.filter(({ title }) => /^[345]\./.test(title)).flatMap((section) => section.commands);
  const [last = '', ...others] = commands.filter((command) => !command.endsWith('…')).toReversed();
  await world.user.hw(['receiver', 'clear']);
  for (const command of others.toReversed()) await shell.run(command);
  const shown = () => shell.run(last);
  await eventually(async () => (await shown()).includes('total'), PATIENCE);
  expect(await shown()).toContain('"total":12.5');
});

/** A reader is slower than an execution on its way to its wait. */
const needsWait = (command: string) => command.includes('hw workflows resume');

function untilDone(command: string): Promise<unknown> {
  return eventually(
    () =>
      shell.run(command).then(
        () => true,
        () => false,
      ),
    PATIENCE,
  );
}

/** Columns are as wide as they need to be. */
function plain(text: string): string {
  return text.replaceAll(/[ \t]+/g, ' ');
}
