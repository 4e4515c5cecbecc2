import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

/** Statements with source map segments of their own: as many as a component may have. */
const STATEMENTS = 'a;'.repeat(500_000);
/**
 * Handing over the code and parsing the map take 4; with the search in one piece it was 15 to 27.
 */
const MAX_TURN_MS = 12;

test('the place of a failed load is found in turns with others, however large the component', async () => {
  const large = await bundle(
    `const a = 1;\n${STATEMENTS}\nthrow new Error('not today');\nexport default { run() {} };`,
  );
  const small = await bundle(`throw new Error('not today');`);
  // Compiles the code that every load needs, and starts a process for the tenant.
  await sandbox.get().describe('o_test', small);
  const longestMs = await longestTurnMs(async () => {
    expect(await sandbox.get().describe('o_test', large)).toEqual({
      ok: false,
      errors: [
        {
          path: 'component_code',
          message: 'The component failed to load: not today',
          file: 'component.js',
          line: 3,
          column: 6,
        },
      ],
    });
    // The last piece of it is measured as well.
    await sleep(5);
  });
  expect(longestMs / slowness()).toBeLessThan(MAX_TURN_MS);
});
