/** Output of the process: stdout or stderr. */
export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
  /** Width in characters; only for a terminal. */
  columns?: number;
}
