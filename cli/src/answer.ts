import type { ExitName } from './exit-codes.ts';

/** Output of a command. */
export interface Answer {
  /** With --json: this, as one document. */
  json: unknown;
  /** Without: this, for people. */
  text?: string;
  /**
   * Output with --quiet. Absent: no output if the command changes a resource, `text` if it shows
   * one.
   */
  quiet?: string;
  /** Default: ok. */
  exit?: ExitName;
}
