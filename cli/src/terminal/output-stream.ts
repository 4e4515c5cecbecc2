/** What is written to: stdout or stderr of the process. */
export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
  /** Of a terminal. */
  columns?: number;
}
