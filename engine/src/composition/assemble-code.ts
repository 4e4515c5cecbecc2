import type { AuthCache } from '../connections/index.ts';
import type { Changes } from '../cluster/index.ts';
import { createComponents, readComponentBundle, type UnsavedComponents } from '../components/index.ts';
import type { EngineOptions } from '../contract/index.ts';
import { createImports, createRegistry, createStarterSeed, startImports } from '../registry/index.ts';
import type { PropOpener } from '../props/index.ts';
import type { Sealer } from '../secrets/index.ts';
import { type Intake, type RunTask, runTask } from '../runs/index.ts';
import { createChangeTurns, createComponentProps, createSources, startChangeRecovery } from '../sources/index.ts';
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
  const { db, sql, sandbox, limits, room, node, traces, log } = ground;
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
    traces,
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
