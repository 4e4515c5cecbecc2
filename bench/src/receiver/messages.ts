/** Path where the receiver counts deliveries. */
export const EVENTS_PATH = '/events';

/** Ids of events: one letter for the phase, then the request's index in eight digits. */
export const ID_CHARS = 9;

export function eventId(phase: string, index: number): string {
  return phase + String(index).padStart(ID_CHARS - 1, '0');
}

export type ToReceiver =
  /** Every n-th event is answered 500 and counts for nothing, from the first on; 0: none. */
  | { kind: 'begin'; phase: string; events: number; refuseEvery: number }
  /** Check every n-th signature; 0: none. Of several accounts, with that of the event's account. */
  | { kind: 'verify'; secrets: string[]; every: number }
  | { kind: 'count'; phase: string }
  | { kind: 'collect'; phase: string };

export interface Arrivals {
  /** Machine's clock at which each event had arrived first; 0: never. */
  atMs: Float64Array;
  duplicates: number;
}

export interface ReceiverTotals {
  /** Requests that belong to no phase. */
  strays: number;
  verified: number;
  badSignatures: number;
}

export type FromReceiver =
  | { kind: 'listening'; port: number }
  | { kind: 'counted'; distinct: number }
  | ({ kind: 'collected' } & Arrivals & ReceiverTotals);
