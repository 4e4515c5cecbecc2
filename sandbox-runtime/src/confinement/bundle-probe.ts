import { bundleOwnCode } from '../starter/bundle-own-code.ts';

/**
 * A script that ends well where a filter of system calls can be installed with its last argument,
 * koffi's native part, and holds.
 */
export function bundleProbe(): Promise<string> {
  return bundleOwnCode({
    name: 'syscall-probe',
    main: new URL('../syscall-filter/probe-main.ts', import.meta.url),
    options: { format: 'iife', target: 'node24', platform: 'node' },
  });
}
