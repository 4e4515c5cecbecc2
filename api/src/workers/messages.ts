/* Messages between the supervisor and its workers, over the channel between their processes. */

export interface WorkersStatus {
  /** As many as HEADWATER_WORKERS says. */
  wanted: number;
  up: number;
  /** Workers that ended by themselves and were started again, since the start of the supervisor. */
  restarts: number;
}

export interface WorkerFigures {
  worker: number;
  /** Prometheus text. */
  text: string;
}

export type ToWorker =
  | { kind: 'stop'; isReplaced: boolean }
  | { kind: 'status'; status: WorkersStatus }
  | { kind: 'read-figures'; id: number }
  | { kind: 'gathered-figures'; id: number; figures: WorkerFigures[] };

export type FromWorker =
  | { kind: 'up' }
  | { kind: 'figures'; id: number; text: string }
  | { kind: 'gather-figures'; id: number };
