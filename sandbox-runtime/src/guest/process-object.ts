import { now } from './intrinsics.ts';

/** A `process` with what packages look at to find out where they run. There is no environment in a sandbox. */
export function makeProcess(): Record<string, unknown> {
  const startedAt = now();
  const nothing = (): void => undefined;
  const hrtime = (): [number, number] => {
    const ms = now() - startedAt;
    return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
  };
  const process = {
    env: {},
    argv: ['node', 'component'],
    version: 'v24.0.0',
    versions: { node: '24.0.0' },
    platform: 'linux',
    arch: 'x64',
    pid: 1,
    browser: false,
    nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
    cwd: () => '/',
    uptime: () => (now() - startedAt) / 1000,
    hrtime: Object.assign(hrtime, { bigint: () => BigInt(now() - startedAt) * 1_000_000n }),
    on: nothing,
    once: nothing,
    off: nothing,
    removeListener: nothing,
    // oxlint-disable-next-line no-console -- the guest's console: the log of the run
    emitWarning: (warning: unknown) => console.warn(String(warning)),
  };
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process' });
  return process;
}
