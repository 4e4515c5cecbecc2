import { expect, test } from 'vitest';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';
import { runStep, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

test('the steps of a workflow keep their isolates warm beside each other', async () => {
  const codes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      bundle(`let runs = 0;\n${withStep(`runs += 1; return [${index}, runs];`)}`),
    ),
  );
  for (const round of [1, 2]) {
    const returned: unknown[] = [];
    for (const code of codes)
      returned.push((await runStep(sandbox.run, code, { isolateKey: `d_x/${code.hash}` })).returned);
    expect(returned).toEqual(codes.map((_, index) => [index, round]));
  }
});
