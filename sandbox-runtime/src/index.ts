export { bundleComponent } from './build/bundle-component.ts';
export { bundleOverLimit } from './build/bundle-over-limit.ts';
export { type Builder, createBuilder } from './build/builder.ts';
export type { BuildOutcome, Built } from './build/build-outcome.ts';
export type { ComponentFiles } from './build/component-files.ts';
export type { MissingFile } from './build/list-missing-files.ts';
export { readTar, TarError } from './build/read-tar.ts';
export { limitFault } from './protocol/exceeded-limit.ts';
export type { BuildLayer } from './host/layers/build-prefix.ts';
export { requireLayers } from './host/layers/require-layers.ts';
export { startSandbox, type SandboxOptions } from './host/start-sandbox.ts';
export { createStarter, type ProcessStarter } from './host/starter/starter.ts';
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
export { SENT_BYTES } from './protocol/head-bounds.ts';
