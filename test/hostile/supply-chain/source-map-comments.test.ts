// builder: Source map comments that name files of the server, in a component and in a package; an error would quote them.
import { expect, it } from 'vitest';
import { SECRET, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const component = "export default { name: 'Attack', version: '1', run() {} };";

function inlineMap(): string {
  const map = { version: 3, sources: [chain.secret], names: [], mappings: 'AAAA', sourceRoot: chain.outside };
  return `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
}

it('are not followed from a component', async () => {
  const { secret } = chain;
  for (const url of [secret, `file://${secret}`, `data:/..${secret}`, inlineMap()]) {
    const code = `${component}\n//# sourceMappingURL=${url}\n/*@ sourceMappingURL=${url} */`;
    expect(await chain.save(code)).toEqual({});
  }
});

it('are not followed from a package', async () => {
  const index = `exports.fail = () => { throw new Error('thrown'); };\n//# sourceMappingURL=`;
  await chain.publish(
    { name: 'mapped', version: '1.0.0', files: { 'index.js': `${index}${chain.secret}` } },
    { name: 'inlined', version: '1.0.0', files: { 'index.js': `${index}${inlineMap()}` } },
  );
  const imports = "import mapped from 'mapped'; import inlined from 'inlined';\n";
  const outcome = await chain.deploy(imports + component.replace('{}', '{ (mapped.fail ?? inlined.fail)(); }'));
  expect(outcome).toMatchObject({ error: { message: 'thrown' } });
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
  expect(JSON.stringify(outcome)).not.toContain(chain.outside);
});
