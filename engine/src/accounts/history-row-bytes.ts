import { LIMITS } from '@headwater/shared';

/** Where what was written of an account's history is counted. */
export interface HistoryCount {
  add(accountId: string, bytes: number): void;
}

/** What a row with these texts counts for maxHistoryBytes. */
export function historyRowBytes(...texts: readonly (string | null | undefined)[]): number {
  return LIMITS.historyRowBytes + textBytes(...texts);
}

export function textBytes(...texts: readonly (string | null | undefined)[]): number {
  let bytes = 0;
  for (const text of texts) if (typeof text === 'string' && text !== '') bytes += Buffer.byteLength(text);
  return bytes;
}
