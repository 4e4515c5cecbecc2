import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Flag of a descriptor that child programs do not inherit: `flags` in
 * https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html
 */
const CLOSE_ON_EXEC = 0o2_000_000;
/** The usual ones are replaced in every process that is started. */
const LAST_STANDARD_FD = 2;

/**
 * Closes what whoever started the node has left open beside its standard files: pipes of a
 * supervisor, files of a shell. Node keeps the first of these from its children itself, and would
 * hand on those with high numbers to each of them: tenants would share them.
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
