// secrets: Props of sources and steps in the form that secrets are stored in, of a key that no node has: one that starts looks for them.
import { expect, it } from 'vitest';
import { readSealedKeyUse } from '../../../engine/src/secrets/read-sealed-values.sql.ts';
import { hostile } from '../../support/hostile.ts';
import type { ApiAnswer } from '../../support/server.ts';

const world = hostile();

const KEY = 'deadbeef0000';
const FORMS = [`v2.${KEY}.x`, [`v2.${KEY}.x`], { a: `v2.${KEY}.x` }, 1.5, null, true].map(($sealed) => ({ $sealed }));
const code = (type: string, rest = '') =>
  `export default { name: 'Odd', version: '1', type: '${type}', props: { o: { type: 'object'${rest} } }, run() {} };`;

it('are refused, and no node is told of the key', async () => {
  const { attacker, sql } = world;
  const answers = await world.unharmed(async () => {
    const all: ApiAnswer[] = [];
    for (const o of FORMS) {
      const props = { configured_props: { o } };
      const inCode = code('source', `, default: ${JSON.stringify(o)}`);
      all.push(
        await attacker.api('POST', '/sources', { component_code: code('source'), ...props }),
        await attacker.api('POST', '/sources', { component_code: inCode }),
        await attacker.api('POST', '/workflows', {
          name: 'Odd',
          steps: [{ namespace: 'a', component_code: code('action'), ...props }],
        }),
      );
    }
    return all;
  });
  for (const { status, body } of answers)
    expect([status, JSON.stringify(body.errors)]).toEqual([
      400,
      expect.stringContaining('The key $sealed is reserved'),
    ]);
  expect(
    (await readSealedKeyUse(sql as Parameters<typeof readSealedKeyUse>[0])).map(({ keyId }) => keyId),
  ).not.toContain(KEY);
});
