import type { ProcessRights } from '../../sandbox-runtime/src/confinement/process-rights.ts';

/** Those of root, where sessions have shares. */
export const ALL_RIGHTS: ProcessRights = {
  kill: true,
  session: true,
  lower: true,
  raise: true,
  cores: true,
  oomScore: true,
};
