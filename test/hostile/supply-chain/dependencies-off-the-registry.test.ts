// builder: Dependencies of a dependency on files, repositories and addresses.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

const KINDS: Record<string, string> = {
  alias: 'npm:../../x@1',
  file: 'file:../../secret',
  folder: '../x',
  git: 'git+https://127.0.0.1/x.git',
  github: 'github:owner/name',
  http: 'http://127.0.0.1/x.tgz',
  link: 'link:/etc',
  short: 'owner/name',
  workspace: 'workspace:*',
};

it('are refused by name, with the way to them', async () => {
  for (const [kind, wanted] of Object.entries(KINDS)) {
    await chain.publish(
      { name: `top-${kind}`, version: '1.0.0', manifest: { dependencies: { [`middle-${kind}`]: '^1' } } },
      { name: `middle-${kind}`, version: '1.0.0', manifest: { dependencies: { bad: wanted } } },
    );
  }
  const why = 'only versions in the registry can be used, no files, addresses or repositories';
  expect(await chain.refusals(...Object.keys(KINDS).map((kind) => `top-${kind}`))).toEqual(
    Object.entries(KINDS).map(
      ([kind, wanted]) =>
        `Cannot resolve "top-${kind}": top-${kind}@1.0.0 → middle-${kind}@1.0.0 → bad@${wanted}: ${why}`,
    ),
  );
});
