import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { hostile, type AttackOutcome, type HostileWorld } from './hostile.ts';
import { announcePackages } from './hostile-registry.ts';
import { type PackageRegistry, type PackageSpec, startPackageRegistry } from './package-registry.ts';

export interface SupplyChain {
  world: HostileWorld;
  /** Has the packages of this file, and is asked for them alone. */
  registry: PackageRegistry;
  /** A folder on the server's machine. `secret`: a file in it that tenants must not read. */
  outside: string;
  secret: string;
  publish(...packages: PackageSpec[]): Promise<void>;
  /** Saves, deploys and runs a component that imports `name` and emits the import's value. */
  importing(name: string): Promise<AttackOutcome>;
  /** Errors of a component that has all these imports, in their order. */
  refusals(...names: string[]): Promise<string[]>;
  /**
   * Deploys and runs `code` as the attacker, while the neighbour saves a component too and is not
   * kept from it.
   */
  deploy(code: string): Promise<AttackOutcome>;
  /** Saves `code` unchanged as a component; `refused` if the server refuses. */
  save(code: string): Promise<Pick<AttackOutcome, 'refused'>>;
  /** Expects that nothing was written beside the secret. */
  expectUntouched(): Promise<void>;
}

export const SECRET = 'not-for-tenants';

/** An attack through a component's imports: `hostile()` with a package registry for the file. */
export function supplyChain(): SupplyChain {
  const world = hostile();
  let registry: PackageRegistry | undefined;
  let outside = '';
  beforeAll(async () => {
    registry = await startPackageRegistry();
    outside = await mkdtemp(path.join(tmpdir(), 'headwater-outside-'));
    await writeFile(path.join(outside, 'secret.js'), `module.exports = '${SECRET}';`);
  });
  afterAll(async () => {
    await registry?.stop();
    await rm(outside, { recursive: true, force: true });
  });
  const chain: SupplyChain = {
    world,
    get registry() {
      if (registry === undefined) throw new Error('There is a registry from beforeAll on');
      return registry;
    },
    get outside() {
      return outside;
    },
    get secret() {
      return path.join(outside, 'secret.js');
    },
    async publish(...packages) {
      chain.registry.add(...packages);
      await announcePackages(
        chain.registry.url,
        packages.map(({ name }) => name),
      );
    },
    importing: (name) =>
      chain.deploy(`import * as found from '${name}';\n${emitting('found.default ?? { ...found }')}`),
    async refusals(...names) {
      const imports = names.map((name, index) => `import x${index} from '${name}';`).join('\n');
      const list = names.map((_, index) => `x${index}`).join(', ');
      return refusedWith(await chain.save(`${imports}\nexport default [${list}];`)).split('\n');
    },
    async deploy(code) {
      const [attacked] = await world.unharmed(() => Promise.all([world.attack(code), saveAsNeighbour(world)]));
      return attacked;
    },
    async save(code) {
      const save = () => world.attacker.api('POST', '/components', { component_code: code });
      const [{ status, body }] = await world.unharmed(() => Promise.all([save(), saveAsNeighbour(world)]));
      if (status === 200) return {};
      const { type, detail, errors = [], limit } = body;
      return { refused: { status, code: type.split(':').at(-1), detail, errors, limit } };
    },
    async expectUntouched() {
      expect(await readdir(outside)).toEqual(['secret.js']);
    },
  };
  return chain;
}

/** A component that emits the value of an expression. */
export function emitting(expression: string): string {
  return `export default { name: 'Attack', version: '1', run() { this.$emit({ found: ${expression} }); } };`;
}

/** Errors of a refused component, one message a line. Fails for any other outcome. */
export function refusedWith({ refused }: Pick<AttackOutcome, 'refused'>): string {
  expect(refused).toMatchObject({ status: 400, code: 'invalid-component' });
  expect(refused?.errors.every((error) => error.path === 'component_code')).toBe(true);
  return (refused?.errors ?? []).map(({ message }) => message).join('\n');
}

async function saveAsNeighbour({ neighbour }: HostileWorld): Promise<void> {
  const code = `export default { name: 'Saved ${crypto.randomUUID()}', version: '1', run() {} };`;
  const { status } = await neighbour.api('POST', '/components', { component_code: code });
  expect(status).toBe(200);
}
