import { LIMITS } from '@headwater/shared';

/** Counts the bytes written to an account's history. */
export interface HistoryCount {
  add(accountId: string, bytes: number): void;
}

/** The bytes that a row with these texts counts for maxHistoryBytes. */
export function historyRowBytes(...texts: readonly (string | null | undefined)[]): number {
  return LIMITS.historyRowBytes + textBytes(...texts);
}

export function textBytes(...texts: readonly (string | null | undefined)[]): number {
  let bytes = 0;
  for (const text of texts) if (typeof text === 'string' && text !== '') bytes += Buffer.byteLength(text);
  return bytes;
}
