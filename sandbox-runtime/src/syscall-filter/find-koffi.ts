import { createRequire } from 'node:module';
import { filterArch } from './syscalls.ts';

/**
 * koffi's native part for this system, which installs filters. Undefined if it is missing, or no
 * filter is known.
 */
export function findKoffi(): string | undefined {
  const arch = filterArch();
  if (arch === undefined) return undefined;
  try {
    const koffi = createRequire(import.meta.url).resolve('koffi');
    return createRequire(koffi).resolve(`@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`);
  } catch {
    // An optional package of koffi's, which an installation may leave out.
    return undefined;
  }
}
