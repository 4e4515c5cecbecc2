import type { AuthCache } from '../connections/auth-cache.ts';
import type { Changes } from '../cluster/follow-changes.ts';
import { createComponents } from '../components/components.ts';
import { readComponentBundle } from '../components/bundles.sql.ts';
import type { EngineOptions } from '../contract/engine-options.ts';
import { createImports, startImports } from '../registry/imports.ts';
import { createRegistry } from '../registry/registry.ts';
import { createStarterSeed } from '../registry/starter-registry.ts';
import type { PropOpener } from '../props/run-props.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Intake } from '../runs/intake.ts';
import { type RunTask, runTask } from '../runs/run-invocation.ts';
import { createComponentProps } from '../sources/configure-props.ts';
import { createChangeTurns } from '../sources/lifecycle.ts';
import { startChangeRecovery } from '../sources/recover-changes.ts';
import { createSources } from '../sources/sources.ts';
import type { UnsavedComponents } from '../components/unsaved-components.ts';
import type { Runs } from './assemble-runs.ts';
import type { Ground } from './ground.ts';
import { builderOf, fetchCode } from './parts-from-options.ts';
import type { AccountCounts } from './start-account-counts.ts';

interface CodeNeeds {
  ground: Ground;
  backlogs: AccountCounts['backlogs'];
  runs: Runs;
  intake: Intake;
  opener: PropOpener & Sealer;
  resolveAuth: AuthCache['resolve'];
  changes: Changes;
}

export type Code = ReturnType<typeof assembleCode>;

/** Saved code, the registry, and the sources made of it. */
export function assembleCode(options: EngineOptions, { ground, backlogs, runs, ...given }: CodeNeeds) {
  const { role } = options;
  const { db, sql, sandbox, limits, room, node, log } = ground;
  const { intake, opener: sealer, resolveAuth, changes } = given;
  const { fetch, callDataStore, readDbValue, readDbInTurn, commit } = runs.context;
  const builder = builderOf(options, ground.starter);
  const seeded = createStarterSeed({ sql, sandbox, log });
  const components = createComponents({
    db,
    sandbox,
    builder,
    room,
    fetch: fetchCode(ground.guestFetch, limits),
    seeded,
  });
  const { saveFiles } = components;
  const registry = createRegistry({ sql, components, limits, seeded });
  // An import waits for a build.
  const stopImports = role === 'api' ? undefined : startImports({ sql, components, saveFiles, registry, builder, log });
  const readBundle = (componentId: string) => readComponentBundle(sql, componentId);
  const configuring = { sql, sealer, sandbox, limits, fetch, callDataStore, readDbValue, readDbInTurn, resolveAuth };
  const componentProps = createComponentProps({ ...configuring, components, readBundle });
  const sourceParts = {
    db,
    components,
    additionalProps: componentProps.additionalProps,
    limits,
    backlogs,
    intake,
    room,
    changeTurns: createChangeTurns(),
    sealer,
    runTask: (task: RunTask) => runTask(runs.context, task),
    forget: changes.forget,
    nodeId: node.id,
    log,
  };
  return {
    components,
    registry,
    imports: createImports({ sql }),
    readBundle,
    componentProps,
    /** The same for code that is not saved. */
    additionalPropsOf: (unsaved: UnsavedComponents) =>
      createComponentProps({ ...configuring, components: unsaved, readBundle: unsaved.readBundle }).additionalProps,
    sourceParts,
    sources: createSources(sourceParts),
    stopImports: async () => {
      await Promise.all([stopImports?.(), builder.stop()]);
    },
    stopRecovery: startChangeRecovery({ ...sourceParts, commit }),
  };
}
