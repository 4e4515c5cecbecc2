/**
 * A program to start in a session of its own. Its standard input is a script; its descriptor 3
 * leads to the node.
 */
export interface StartOrder {
  program: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  script: string;
  /** Opened by the starter and given to the process, from FIRST_FILE_FD on. */
  files: readonly string[];
  /** Niceness of the process's session, from its first moments on; where the kernel has such. */
  sessionNice: number;
}

/** Descriptor of the first file that a process gets open; the others follow. */
export const FIRST_FILE_FD = 4;

/**
 * From the node to the starter. Scripts are large and few: each is sent once and then named by its
 * number.
 */
export type ToStarter =
  | { kind: 'script'; script: number; code: string }
  | { kind: 'start'; token: string; script: number; order: Omit<StartOrder, 'script'> }
  /** A small program whose end is not awaited. They run one after the other. */
  | { kind: 'command'; program: string; args: readonly string[] };

/** From the starter to the node. */
export type FromStarter =
  /** Once, when it has started. */
  | { kind: 'ready' }
  | { kind: 'started'; token: string; pid: number }
  /** After the end of a process, the rest of its group could not be killed. */
  | { kind: 'not-killed'; token: string; error: string }
  | { kind: 'ended'; token: string; code: number | null; signal: string | null; stderr: string };

/** Hexadecimal. The first bytes on a connection, which name its process. */
export const TOKEN_CHARS = 32;
/** Largest part of a process's standard error that is kept. */
export const MAX_STDERR_CHARS = 4_096;
