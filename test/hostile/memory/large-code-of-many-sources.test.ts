// limits: Dozens of sources whose code is sixteen megabytes each, one run after the other and then all at once.
import { expect, it } from 'vitest';
import { residentBytes } from '../../support/hostile-server.ts';
import { supplyChain } from '../../support/hostile-supply-chain.ts';
import { longRun } from '../../support/long-run.ts';

const chain = supplyChain();
const SOURCES = longRun(8, 16);
const CODE_BYTES = 16_000_000;
/**
 * Three quarters of the code size of all sources. Other attacks use memory of the server at the
 * same time.
 */
const MAX_GROWTH_BYTES = SOURCES * CODE_BYTES * 0.75;

it('is in the memory of the node once, and the neighbour is served', async () => {
  const { attacker, server } = chain.world;
  const files = {
    'index.js': "module.exports = require('./large.json');",
    'large.json': `"${'x'.repeat(CODE_BYTES)}"`,
  };
  await chain.publish({ name: 'sixteen', version: '1.0.0', files });
  const code = `import large from 'sixteen';
    export default { name: 'Large', version: '1', run() { this.$emit(large.length); } };`;
  const saved = await attacker.api('POST', '/components', { component_code: code });
  expect(saved.status).toBe(200);
  const sources: string[] = [];
  for (let i = 0; i < SOURCES; i++) {
    const made = await attacker.api('POST', '/sources', { component_id: saved.body.data.id });
    expect(made.status).toBe(200);
    sources.push(made.body.data.id);
  }
  const before = residentBytes(server.pid);
  await chain.world.unharmed(async () => {
    for (const id of sources) expect((await chain.world.run(id)).events).toContain(CODE_BYTES);
    const started = await Promise.all(sources.map((id) => attacker.api('POST', `/sources/${id}/run`, {})));
    expect(started.map(({ status }) => status)).toEqual(sources.map(() => 200));
    await chain.world.untilIdle();
  });
  expect(residentBytes(server.pid) - before).toBeLessThan(MAX_GROWTH_BYTES);
});
