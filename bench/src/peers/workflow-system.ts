import type { ProcessInfo } from '../system/process-tree.ts';
import type { Undo } from '../undo.ts';

/**
 * A system that runs one workflow per request. Each of its steps computes `fibo(n)`, and the answer
 * is the last step's result.
 */
export interface WorkflowSystem {
  name: string;
  /** Starts it as its users would, on a data folder of its own. */
  start(undo: Undo): Promise<StartedSystem>;
}

export interface StartedSystem {
  /** Takes `POST` with `{ "n": 10 }`. */
  endpoint(steps: number): string;
  processes(): ProcessInfo[];
  /** Debugger URL of the process that is profiled. */
  inspectorUrl?: string;
}

/** The workflows of every system that is compared. */
export const STEP_COUNTS = [3, 40] as const;
