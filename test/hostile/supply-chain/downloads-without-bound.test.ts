// builder: Packages of sixty megabytes each, as many as one build needs: announced and not sent, or poured out without a word.
import type { ServerResponse } from 'node:http';
import { LIMITS } from '@headwater/shared';
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');
const EACH = 60 * MEGABYTE.length;
const COUNT = 8;

function pourInto(response: ServerResponse): void {
  let left = EACH;
  const pour = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= MEGABYTE.length;
      if (!response.write(MEGABYTE)) return void response.once('drain', pour);
    }
    response.end();
  };
  pour();
}

const announceTo = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': EACH });
  // All that comes: a proxy passes nothing on before.
  response.write(MEGABYTE);
};

it('are given up at what one build may download', async () => {
  for (const [name, answer] of [
    ['announced', announceTo],
    ['poured', pourInto],
  ] as const) {
    const versions = Array.from({ length: COUNT }, (_, i) => `1.0.${i}`);
    // Distinct ones: the same package is fetched once.
    await chain.publish(...versions.map((version) => ({ name, version })));
    chain.registry.instead = (path, response) => {
      if (!path.startsWith(`/${name}/-/`)) return false;
      answer(response);
      return true;
    };
    const imports = versions.map((version, i) => `import x${i} from '${name}@${version}';`).join('\n');
    const outcome = await chain.save(`${imports}\nexport default { name: 'x', version: '1', run() {} };`);
    chain.registry.instead = undefined;
    const value = LIMITS.maxPackageDownloadBytes;
    expect([name, refusedWith(outcome)]).toEqual([
      name,
      expect.stringMatching(new RegExp(`^The packages cannot be used: .* maxPackageDownloadBytes is ${value} bytes$`)),
    ]);
    const { limit } = outcome.refused ?? {};
    expect(limit).toMatchObject({ name: 'maxPackageDownloadBytes', value });
    expect(limit?.used).toBeGreaterThan(value);
    expect(limit?.used).toBeLessThan(value + COUNT * EACH);
  }
});
