import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Builder, createBuilder } from '@headwater/sandbox-runtime';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { oneFile } from '../../support/build-kit.ts';
import { emitting, refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

// builder: Packages of sixty megabytes each, as many as one build needs: announced and not sent,
// or poured out without a word.
describe('downloads-without-bound', () => {
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
      chain.registry.instead = (asked, response) => {
        if (!asked.startsWith(`/${name}/-/`)) return false;
        answer(response);
        return true;
      };
      const imports = versions.map((version, i) => `import x${i} from '${name}@${version}';`).join('\n');
      const outcome = await chain.save(`${imports}\nexport default { name: 'x', version: '1', run() {} };`);
      chain.registry.instead = undefined;
      const value = LIMITS.maxPackageDownloadBytes;
      expect([name, refusedWith(outcome)]).toEqual([
        name,
        expect.stringMatching(
          new RegExp(`^The packages cannot be used: .* maxPackageDownloadBytes is ${value} bytes$`),
        ),
      ]);
      const { limit } = outcome.refused ?? {};
      expect(limit).toMatchObject({ name: 'maxPackageDownloadBytes', value });
      expect(limit?.used).toBeGreaterThan(value);
      expect(limit?.used).toBeLessThan(value + COUNT * EACH);
    }
  });
});

// builder: A tarball that is not the one whose checksum the registry names, to be taken for an
// honest one by other tenants.
describe('forged-checksum', () => {
  interface Packument {
    versions: Record<string, { dist: { integrity: string } }>;
  }

  const chain = supplyChain();

  it('is not used, and does not get into the cache that all tenants share', async () => {
    await chain.publish({ name: 'honest', version: '1.0.0' });
    const described = await fetch(`${chain.registry.url}honest`);
    const integrity = ((await described.json()) as Packument).versions['1.0.0']?.dist.integrity;
    await chain.publish(
      { name: 'forged', version: '1.0.0', dist: { integrity } },
      { name: 'unchecked', version: '1.0.0', dist: { integrity: undefined, shasum: undefined } },
      { name: 'weak', version: '1.0.0', dist: { integrity: `md5-${createHash('md5').update('x').digest('base64')}` } },
    );
    expect(refusedWith(await chain.importing('forged'))).toContain(
      'its checksum is not the one that the registry names',
    );
    expect(refusedWith(await chain.importing('unchecked'))).toContain('it has no versions in the registry');
    expect(refusedWith(await chain.importing('weak'))).toContain('it has no versions in the registry');
    const { neighbour } = chain.world;
    const code = `import honest from 'honest';\n${emitting('honest')}`;
    const saved = await neighbour.api('POST', '/components', { component_code: code });
    expect(saved.body.data.dependencies).toEqual({ honest: '1.0.0' });
  });
});

// builder: A list of versions, and a tarball, that never end.
describe('registry-endless-answer', () => {
  const chain = supplyChain();
  const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');

  function pourInto(response: ServerResponse): void {
    const pour = (): void => {
      while (!response.destroyed && response.write(MEGABYTE));
      response.once('drain', pour);
    };
    pour();
  }

  it('are given up at their bound', async () => {
    await chain.publish({ name: 'list', version: '1.0.0' }, { name: 'archive', version: '1.0.0' });
    chain.registry.instead = (asked, response) => {
      if (asked === '/archive') return false;
      pourInto(response);
      return true;
    };
    try {
      expect(refusedWith(await chain.importing('list'))).toContain('it is larger than 67108864 bytes');
      expect(refusedWith(await chain.importing('archive'))).toContain(
        'archive@1.0.0: it is larger than 67108864 bytes',
      );
    } finally {
      chain.registry.instead = undefined;
    }
  });
});

// builder: A registry that redirects to a server of the operator's network, and one that redirects
// without end.
describe('registry-redirect', () => {
  const chain = supplyChain();

  it('is not followed to another server, and not for ever', async () => {
    const asked: string[] = [];
    const inner = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    const { port } = inner.address() as AddressInfo;
    await chain.publish({ name: 'away', version: '1.0.0' }, { name: 'round', version: '1.0.0' });
    chain.registry.instead = (target, response) => {
      const location = target.startsWith('/away') ? `http://127.0.0.1:${port}/admin` : target;
      response.writeHead(302, { location }).end();
      return true;
    };
    try {
      expect(refusedWith(await chain.importing('away'))).toContain('the registry redirects to another server');
      expect(refusedWith(await chain.importing('round'))).toContain('the registry redirects more than 3 times');
    } finally {
      chain.registry.instead = undefined;
      await new Promise((resolve) => inner.close(resolve));
    }
    expect(asked).toEqual([]);
  });
});

// builder: A registry that takes requests and never answers.
describe('registry-that-waits', () => {
  const chain = supplyChain();

  // With a builder of its own: the server waits for a minute.
  it('ends the build at its time limit, and components without packages are saved meanwhile', async () => {
    const cacheDir = await mkdtemp(path.join(tmpdir(), 'headwater-packages-'));
    const small = { tenantId: 'o_neighbour', component: oneFile('export default 1;') };
    const buildMs = Math.ceil(3_000 + 5 * (await timeOfBuild(cacheDir, small)));
    const builder = createBuilder({ cacheDir, registryUrl: chain.registry.url, limits: { buildMs } });
    chain.registry.instead = () => true;
    try {
      const outcome = await chain.world.unharmed(async () => {
        const waiting = builder.build({ tenantId: 'o_attacker', component: oneFile("import x from 'silent';") });
        const other = await builder.build(small);
        expect(other.ok).toBe(true);
        return waiting;
      });
      expect(outcome).toMatchObject({
        ok: false,
        errors: [{ message: expect.stringContaining('the registry did not answer before the time of this build') }],
      });
    } finally {
      await builder.stop();
      await rm(cacheDir, { recursive: true, force: true });
    }
  });

  /** The time of a first build, on this machine at this moment. */
  async function timeOfBuild(cacheDir: string, component: Parameters<Builder['build']>[0]): Promise<number> {
    const builder = createBuilder({ cacheDir, registryUrl: chain.registry.url });
    const beganMs = performance.now();
    try {
      expect((await builder.build(component)).ok).toBe(true);
      return performance.now() - beganMs;
    } finally {
      await builder.stop();
    }
  }
});

// builder: Version ranges that take a reader of ranges hours, in an import string and in a
// package.
describe('version-ranges', () => {
  const chain = supplyChain();

  const RANGES: Record<string, string> = {
    spaces: `>${' '.repeat(50_000)}<`,
    alternatives: Array.from({ length: 20_000 }, (_, i) => `^${i}`).join('||'),
    digits: `^${'9'.repeat(50_000)}.0.0`,
    prerelease: `^1.0.0-${'a.'.repeat(30_000)}`,
  };

  it('in a package are refused for their length', async () => {
    const names = Object.keys(RANGES);
    for (const name of names)
      await chain.publish({ name, version: '1.0.0', manifest: { dependencies: { other: RANGES[name] } } });
    for (const reason of await chain.refusals(...names))
      expect(reason).toContain('only versions in the registry can be used');
  });

  it('in an import are refused for their length', async () => {
    for (const reason of await chain.refusals(...Object.values(RANGES).map((range) => `other@${range}`)))
      expect(reason).toContain('it has more than 1024 characters');
  });
});
