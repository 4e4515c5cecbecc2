import type { ProcessStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import type { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { ALL_RIGHTS } from './process-rights.ts';

type Parts = Pick<ConstructorParameters<typeof SandboxProcess>[0], 'launch' | 'processCode' | 'guest' | 'starter'>;

/** Parts of a fake sandbox process: `start` replaces its starter. */
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
