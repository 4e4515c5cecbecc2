import type { ProcessStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import type { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { ALL_RIGHTS } from './process-rights.ts';

type Parts = Pick<ConstructorParameters<typeof SandboxProcess>[0], 'launch' | 'processCode' | 'guest' | 'starter'>;

/** Of a sandbox process that is played by a test: `start` is what its starter does. */
export function fakeProcess(start: ProcessStarter['start'], ranOutOfMemory = false): Parts {
  return {
    processCode: '',
    guest: { code: '', snapshot: undefined },
    starter: {
      start,
      command: () => undefined,
      keepFile: () => Promise.reject(new Error('Nothing is kept')),
      stop: () => Promise.resolve(),
    },
    launch: () => ({
      program: '',
      args: [],
      files: [],
      rights: ALL_RIGHTS,
      started: () => Promise.resolve(),
      ranOutOfMemory: () => ranOutOfMemory,
      ended: () => undefined,
    }),
  };
}
