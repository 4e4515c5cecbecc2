import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LAYERS, readAttacks, readDocument, writeTables } from '../support/attack-table.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the table of attacks names every attack with its layer and its file, and no other: npm run fix:attacks', () => {
  expect(readDocument().table).toBe(writeTables(readAttacks()));
});

test('there are hundreds of attacks, each with a name of its own, of every group', () => {
  const attacks = readAttacks();
  expect(attacks.length).toBeGreaterThanOrEqual(484);
  expect(new Set(attacks.map(({ group, name }) => `${group}/${name}`)).size).toBe(attacks.length);
  expect(new Set(attacks.map(({ group }) => group))).toEqual(
    new Set([
      'bridge',
      'cpu',
      'egress',
      'floods',
      'ingress',
      'leaks',
      'memory',
      'oauth',
      'registry',
      'secrets',
      'supply-chain',
      'tenancy',
    ]),
  );
});

test('every layer that attacks name is described, in the document and for authors of attacks', () => {
  const model = readFileSync(path.join(ROOT, 'docs/security.md'), 'utf8');
  const conventions = readFileSync(path.join(ROOT, 'test/hostile/README.md'), 'utf8');
  for (const layer of LAYERS) {
    expect(model).toMatch(new RegExp(`^\\| \`${layer}\`\\s+\\| \\S`, 'm'));
    expect(conventions).toMatch(new RegExp(`^\\| \`${layer}\`\\s+\\| \\S`, 'm'));
  }
});

/** Helpers that call `unharmed` themselves. */
const HELPERS = /\bunharmed\(|\b(?:attackCpu|attackMemory|emitsOf|supplyChain)\(/;

test('every attack is made beside a watched neighbour', () => {
  const unwatched = readAttacks().filter(({ code }) => !HELPERS.test(code));
  expect(unwatched.map(({ group, name }) => `${group}/${name}`)).toEqual([]);
});
