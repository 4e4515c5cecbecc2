// ingress: A gzip and a brotli body of some hundred kilobytes that would be hundreds of megabytes.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const ZEROS = Buffer.alloc(300 * 1024 * 1024, '0');
const BOMBS = {
  gzip: gzipSync(ZEROS, { level: 1 }).subarray(0, 500_000),
  br: brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

it('is unpacked no further than a body may be: an endpoint refuses it, the API does not take it', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const [encoding, body] of Object.entries(BOMBS)) {
        const headers = {
          'content-type': 'application/json',
          'content-encoding': encoding,
          authorization: `Bearer ${attacker.key}`,
        };
        const sent = await fetch(endpoint, { method: 'POST', headers, body });
        const api = await fetch(`${server.url}/v1/sources`, { method: 'POST', headers, body });
        expect([encoding, sent.status, api.status]).toEqual([encoding, 413, 415]);
      }
      await world.untilIdle();
    }),
  );
});
