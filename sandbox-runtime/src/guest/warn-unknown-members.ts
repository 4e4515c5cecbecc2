import { ownKeys } from './intrinsics.ts';
import type { RunContext } from './run-context.ts';

/** A run is told of so many names. */
const MAX_TOLD = 10;
const MAX_NAME_CHARS = 100;

/** The names that a call takes. */
export interface KnownNames {
  readonly names: readonly string[];
  /** Stands before the unknown name: `$emit knows no option`. */
  readonly knowsNo: string;
  /** The names, for people. */
  readonly takes: string;
}

/** Warns of members of `given` that have no effect, of each once a run. */
export function warnUnknownMembers(
  { toldNames }: RunContext,
  given: object,
  { names, knowsNo, takes }: KnownNames,
  warn: (message: string) => void,
): void {
  for (const name of ownKeys(given)) {
    if (names.includes(name)) continue;
    if (toldNames.size >= MAX_TOLD) return;
    const message = `${knowsNo} ${name.slice(0, MAX_NAME_CHARS)}: it takes ${takes}`;
    if (toldNames.has(message)) continue;
    toldNames.set(message, true);
    warn(message);
  }
}
