import type { ProcessInfo } from '../system/process-tree.ts';
import type { Undo } from '../undo.ts';

/** Answers a JSON body with the same JSON, on its own HTTP port of loopback. */
export interface AnsweringSystem {
  name: string;
  /** Endpoints by the name of their row in the report. */
  start(undo: Undo): Promise<StartedAnswering>;
}

export interface StartedAnswering {
  endpoints: ReadonlyMap<string, string>;
  processes(): ProcessInfo[];
  /** The process that reads the requests. */
  mainPid: number;
  /** Debugger URL of that process; only where a profile is wanted. */
  inspectorUrl?: string;
}
