import type { Undo } from '../undo.ts';

/**
 * Something that runs a workflow of so many steps, each of which computes `fibo(n)`, for a request,
 * and answers with the last one's result.
 */
export interface WorkflowSystem {
  name: string;
  /** Starts it as its users would, on a data folder of its own. */
  start(undo: Undo): Promise<StartedSystem>;
}

export interface StartedSystem {
  /** Takes `POST` with `{ "n": 10 }`. */
  endpoint(steps: number): string;
  stop(): Promise<void>;
}

/** The workflows of every system that is compared. */
export const STEP_COUNTS = [3, 40] as const;
