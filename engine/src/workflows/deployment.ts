import type { PropDefinition } from '@headwater/shared';
import type { WorkflowSettings } from '../contract/index.ts';
import type { TimerSchedule } from '../schedule/index.ts';

/**
 * The HTTP and timer triggers have an endpoint or a timer of their id as prop name; a source has a
 * subscription. `deployed`: the source was deployed with the workflow, and goes with it. `given`:
 * the owner has said what `customResponse` is; without it the code of the steps may switch it on.
 */
export type Trigger =
  | { id: string; type: 'http'; customResponse: boolean; given?: true }
  | { id: string; type: 'timer'; schedule: TimerSchedule }
  | { id: string; type: 'source'; sourceId: string; eventName: string; deployed?: true };

export interface Step {
  id: string;
  namespace: string;
  componentId: string;
  /** Secrets are sealed in it; strings may hold `{{…}}`. */
  configuredProps: Record<string, unknown>;
  dynamicProps: PropDefinition[];
  /** Environment variables that its props name. */
  env: string[];
  /** How often it is tried again after a failure; absent: as often as the settings say. */
  retries?: number;
  /** Reaction to the last failure; absent: the execution fails. */
  onError?: 'continue';
}

/** Content of a row of `deployments`. */
export interface Deployment {
  id: string;
  workflowId: string;
  accountId: string;
  version: number;
  triggers: Trigger[];
  steps: Step[];
  settings: WorkflowSettings;
}
