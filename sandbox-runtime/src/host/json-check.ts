import { createGiveWay } from '@headwater/shared';
import { JsonScanner } from './json-scanner.ts';

/** What JSON.parse reads in less time than anybody notices. */
const MAX_AT_ONCE_CHARS = 64 * 1024;
/** A millisecond, at the most. */
const SLICE_CHARS = 32 * 1024;

/** Whether a text is JSON, where that is told in no time; undefined for a longer one. */
export function isShortJson(text: string): boolean | undefined {
  if (text.length > MAX_AT_ONCE_CHARS) return undefined;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is JSON, told in turns with others. Nothing is made of it: JSON.parse takes half a second for six megabytes of
 * `[],`, in one piece, and ten times their room.
 */
export async function isLongJson(text: string): Promise<boolean> {
  const giveWay = createGiveWay();
  const scanner = new JsonScanner(text);
  for (;;) {
    const found = scanner.read(SLICE_CHARS);
    if (found !== undefined) return found;
    await giveWay();
  }
}
