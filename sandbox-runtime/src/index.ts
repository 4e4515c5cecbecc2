export { bundleComponent } from './build/bundle-component.ts';
export { startSandbox, type SandboxOptions } from './host/start-sandbox.ts';
export type {
  BundleOutcome,
  ComponentBundle,
  DescribeOutcome,
  FetchOutcome,
  FetchRequest,
  RunEntry,
  RunFault,
  RunHost,
  RunLimits,
  RunOutcome,
  RunRequest,
  Sandbox,
} from './sandbox.ts';
