import type { ExitName } from './exit-codes.ts';

/** Output of a command. */
export interface Answer {
  /** With --json: this, as one document. */
  json: unknown;
  /** Without: this, for people. */
  text?: string;
  /**
   * With --quiet: this alone. Absent: nothing where the command changes something, `text` where it
   * shows something.
   */
  quiet?: string;
  /** Default: ok. */
  exit?: ExitName;
}
