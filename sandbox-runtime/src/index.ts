/*
 * Everything that the engine may use of the sandbox; a rule refuses any other file. Read sandbox.ts
 * first: it is the seam.
 */

/** The seam: functions that the engine calls, and callbacks of a run. */
export type { RunHost, Sandbox, StepHost } from './sandbox.ts';

/** Starts the sandbox of a node. Its processes are children of the starter. */
export { type SandboxOptions, startSandbox } from './pool/start-sandbox.ts';
export { createStarter, type ProcessStarter } from './starter/starter.ts';

/** Types of the seam between engine and sandbox. */
export type {
  BundleOutcome,
  ComponentBundle,
  DataStoreAnswer,
  DataStoreCall,
  DescribeOutcome,
  FetchMeter,
  FetchOutcome,
  FetchRequest,
  FlowAction,
  RunEntry,
  RunFault,
  RunLimits,
  RunOutcome,
  RunRequest,
  SandboxLayer,
  SendCall,
  StepInput,
  StepTexts,
} from './sandbox-types.ts';
export { SANDBOX_LAYERS } from './sandbox-types.ts';
/** The fault of a run that went over a limit. */
export { limitFault } from './bridge/exceeded-limit.ts';
/** Tells a run that got no processor from others that ended without a fault of their own. */
export { wasStarved } from './bridge/was-starved.ts';
/** Reads the result of the entry `transform`. */
export { readTransformAnswer, type TransformAnswer } from './bridge/transform-answer.ts';
/** Adds a step to those before it, as the entry `step` is given them. */
export { addStep, NO_STEPS } from './bridge/step-input.ts';
/** The member of a send that holds bytes. */
export { SENT_BYTES } from './bridge/head-bounds.ts';

/** Makes bundles of components and their packages, in processes of their own. */
export { type Builder, createBuilder } from './builder/builder.ts';
export type { Built, BuildOutcome } from './builder/build-outcome.ts';
export type { ComponentFiles } from './builder/component-files.ts';
export type { MissingFile } from './builder/list-missing-files.ts';
export { bundleOverLimit } from './builder/bundle-over-limit.ts';
/** Bundles in this process: for the components that come with the engine. */
export { bundleComponent } from './builder/bundle-component.ts';
export { readTar, TarError } from './builder/read-tar.ts';

/** Refuses to start where the operating system lacks a layer that the operator requires. */
export { requireLayers } from './confinement/require-layers.ts';
export type { BuildLayer } from './confinement/build-prefix.ts';
