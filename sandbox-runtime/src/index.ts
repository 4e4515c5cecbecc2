export { bundleComponent } from './builder/bundle-component.ts';
export { bundleOverLimit } from './builder/bundle-over-limit.ts';
export { type Builder, createBuilder } from './builder/builder.ts';
export type { BuildOutcome, Built } from './builder/build-outcome.ts';
export type { ComponentFiles } from './builder/component-files.ts';
export type { MissingFile } from './builder/list-missing-files.ts';
export { readTar, TarError } from './builder/read-tar.ts';
export { limitFault } from './bridge/exceeded-limit.ts';
export type { BuildLayer } from './confinement/build-prefix.ts';
export { requireLayers } from './confinement/require-layers.ts';
export { startSandbox, type SandboxOptions } from './pool/start-sandbox.ts';
export { createStarter, type ProcessStarter } from './starter/starter.ts';
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
  RunHost,
  RunLimits,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLayer,
  SendCall,
  StepHost,
  StepInput,
} from './sandbox.ts';
export { SANDBOX_LAYERS } from './sandbox.ts';
export { readTransformAnswer, type TransformAnswer } from './bridge/transform-answer.ts';
export { SENT_BYTES } from './bridge/head-bounds.ts';
