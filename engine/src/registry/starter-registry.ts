import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { bundleComponent, type Sandbox } from '@headwater/sandbox-runtime';
import type { Log } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { readSeededHashes, type SeedComponent, seedRegistry } from './publish-to-registry.sql.ts';

export interface StarterOptions {
  sql: Sql;
  sandbox: Pick<Sandbox, 'describe'>;
  log: Log;
}

const ROOT = new URL('../../../', import.meta.url);
/** Examples that are good for use as they are, besides everything in the folder `registry`. */
const EXAMPLES = ['examples/github-webhook.mjs', 'examples/http-request-bin.mjs', 'examples/rss-new-items.mjs'];
/** Names the sandbox process in which they are looked at; no account has it. */
const TENANT = 'registry';

/**
 * Puts the components that come with the server into the registry: once for each node, when the
 * registry is first asked for something, since looking at new code takes a sandbox process. A start
 * that failed is tried again the next time.
 */
export function createStarterSeed(options: StarterOptions): () => Promise<void> {
  let seeding: Promise<void> | undefined;
  return () => {
    seeding ??= seed(options).catch((error: unknown) => {
      seeding = undefined;
      throw error;
    });
    return seeding;
  };
}

async function seed({ sql, sandbox, log }: StarterOptions): Promise<void> {
  const known = await readSeededHashes(sql);
  const own = (await readdir(new URL('registry', ROOT))).filter((name) => name.endsWith('.mjs')).toSorted();
  const components: SeedComponent[] = [];
  for (const name of [...own.map((file) => `registry/${file}`), ...EXAMPLES]) {
    const code = await readFile(new URL(name, ROOT), 'utf8');
    const codeHash = createHash('sha256').update(code).digest('hex');
    if (!known.has(codeHash)) components.push(await describe(sandbox, name, code, codeHash));
  }
  if (components.length === 0) return;
  const passedOver = await seedRegistry(sql, components);
  if (passedOver.length > 0) log.warn({ keys: passedOver }, 'keys of components of the server are taken by others');
}

async function describe(
  sandbox: StarterOptions['sandbox'],
  name: string,
  code: string,
  codeHash: string,
): Promise<SeedComponent> {
  const bundled = await bundleComponent(code, name.slice(name.indexOf('/') + 1));
  if (!bundled.ok) throw new Error(`${name} cannot be bundled: ${JSON.stringify(bundled.errors)}`);
  const outcome = await sandbox.describe(TENANT, bundled.bundle);
  if (!outcome.ok) throw new Error(`${name} cannot be loaded: ${JSON.stringify(outcome.errors)}`);
  const { description } = outcome;
  if (description.key === undefined) throw new Error(`${name} has no key`);
  return {
    key: description.key,
    version: description.version,
    name: description.name,
    type: description.type,
    description: description.description ?? null,
    code,
    code_hash: codeHash,
    bundle: bundled.bundle.code,
    source_map: bundled.bundle.sourceMap,
    bundle_hash: bundled.bundle.hash,
    dedupe: description.dedupe ?? null,
    hooks: description.hooks,
    configurable_props: description.props,
    has_additional_props: description.hasAdditionalProps,
  };
}
