// builder: Files of the server by require, import(), templates, attributes, URLs, reference comments and JSX pragmas.
import { expect, it } from 'vitest';
import { SECRET, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it.each([
  ['require', (secret: string) => `require('${secret}')`],
  ['import()', (secret: string) => `await import('${secret}')`],
  ['require.resolve', (secret: string) => `require.resolve('${secret}')`],
  ['a template', (secret: string) => `await import(\`${secret.slice(0, -9)}\${'secret'}.js\`)`],
  ['a climbing template', (secret: string) => `await import(\`./../../../..${secret.slice(0, -9)}\${'secret'}.js\`)`],
  ['an attribute', (secret: string) => `await import('${secret}', { with: { type: 'text' } })`],
  ['a URL', (secret: string) => `await import(new URL('${secret}', import.meta.url).href)`],
  ['fs', (secret: string) => `require('fs').readFileSync('${secret}', 'utf8')`],
])('are not read by %s', async (_, expression) => {
  const code = `/** @jsxImportSource ${chain.outside} */
    /// <reference path="${chain.secret}" />
    export default { name: 'Attack', version: '1', async run() { this.$emit({ found: ${expression(chain.secret)} }); } };`;
  const outcome = await chain.deploy(code);
  expect(outcome.refused?.code ?? outcome.error?.code).toBeDefined();
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
});
