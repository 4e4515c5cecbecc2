import { limitError } from '../../limit-error.ts';
import { NODE_FACTS } from '../node-facts.ts';
import { type CodedError, codedError, nativeError } from '../errors.ts';

const { osConstants: OS_CONSTANTS } = NODE_FACTS;

const MESSAGES = {
  EACCES: 'permission denied',
  EBADF: 'bad file descriptor',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EISDIR: 'illegal operation on a directory',
  EMFILE: 'too many open files',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EXDEV: 'cross-device link not permitted',
} as const;

export type FsErrorCode = keyof typeof MESSAGES;

/** An error as Node's fs throws it: `ENOENT: no such file or directory, open '/tmp/x'`. */
export function fsError(code: FsErrorCode, syscall: string, path?: string, dest?: string): CodedError {
  const where = path === undefined ? '' : ` '${path}'`;
  const to = dest === undefined ? '' : ` -> '${dest}'`;
  return complete(nativeError(code, `${code}: ${MESSAGES[code]}, ${syscall}${where}${to}`), syscall, path, dest);
}

/** As `rm` of Node refuses a directory. */
export function isDirectory(path: string): CodedError {
  const told = 'Path is a directory: rm returned EISDIR (is a directory)';
  const error = codedError('ERR_FS_EISDIR', `${told} ${path}`);
  Object.defineProperty(error, 'name', { value: 'SystemError', configurable: true, writable: true });
  return complete(error, 'rm', path, undefined, 'EISDIR');
}

/** A disk that is full, as it is for a program that runs into a limit below /tmp. */
export function tmpFull(
  name: 'maxTmpBytes' | 'maxTmpEntries',
  value: number,
  used: number,
  syscall: string,
  path?: string,
): CodedError {
  return complete(limitError({ name, value, used }, 'ENOSPC'), syscall, path);
}

function complete(error: CodedError, syscall: string, path?: string, dest?: string, code = error.code): CodedError {
  const errno = OS_CONSTANTS['errno']?.[code];
  Object.assign(error, { errno: errno === undefined ? undefined : -errno, syscall });
  if (path !== undefined) Object.assign(error, { path });
  if (dest !== undefined) Object.assign(error, { dest });
  return error;
}
