import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Flag of a descriptor that child programs do not inherit: `flags` in
 * https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html
 */
const CLOSE_ON_EXEC = 0o2_000_000;
/** The usual ones are replaced in every process that is started. */
const LAST_STANDARD_FD = 2;

/**
 * Closes files that the node's starter left open besides the standard files, such as pipes of a
 * supervisor or files of a shell. Node protects its children only from the first of these.
 * Descriptors with high numbers would reach every child, and tenants would share them.
 */
export function closeInheritedFiles(): void {
  for (const fd of openDescriptors()) {
    if (fd <= LAST_STANDARD_FD || !isInheritable(fd)) continue;
    try {
      closeSync(fd);
    } catch {
      // It is closed already.
    }
  }
}

function openDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    // Not on macOS, which does not say what would be inherited.
    return [];
  }
}

function isInheritable(fd: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // Descriptor of the folder listing, which is closed by now.
    return false;
  }
}
