import type { LimitsCache } from '../accounts/limits-cache.ts';
import { type ComponentFinder, type ComponentsOptions, createComponents } from '../components/components.ts';
import type { Saver } from '../components/save-component.ts';
import type { Components, Imports, Registry } from '../contract/components.ts';
import type { Role } from '../contract/engine-options.ts';
import type { Log } from '../contract/log.ts';
import { createImports, startImports } from '../registry/imports.ts';
import { createRegistry } from '../registry/registry.ts';
import { createStarterSeed } from '../registry/starter-registry.ts';

export interface RegistryParts {
  components: Components & Pick<Saver, 'prepare'> & ComponentFinder;
  registry: Registry;
  imports: Imports;
  /** Ends the builder as well: what an import waits for is a build. */
  stop(): Promise<void>;
}

/**
 * Components of accounts, the registry, and imports into both, which nodes that run lanes work on.
 */
export function assembleRegistry(
  options: Omit<ComponentsOptions, 'seeded'> & { limits: Pick<LimitsCache, 'get'>; log: Log; role: Role },
): RegistryParts {
  const { db, sandbox, builder, limits, log, role } = options;
  const { sql } = db;
  const seeded = createStarterSeed({ sql, sandbox, log });
  const components = createComponents({ ...options, seeded });
  const registry = createRegistry({ sql, components, limits, seeded });
  const { saveFiles } = components;
  const stopImports = role === 'api' ? undefined : startImports({ sql, components, saveFiles, registry, builder, log });
  return {
    components,
    registry,
    imports: createImports({ sql }),
    async stop() {
      await Promise.all([stopImports?.(), builder.stop()]);
    },
  };
}
