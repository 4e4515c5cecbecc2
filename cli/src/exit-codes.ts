/** How `hw` ends. Stable: scripts decide by them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  pending: 2,
  unauthorized: 3,
  notFound: 4,
  unreachable: 5,
  component: 6,
  interrupted: 130,
} as const;

export type ExitName = keyof typeof EXIT;
export type ExitCode = (typeof EXIT)[ExitName];

export const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = {
  ok: 'It worked.',
  failure: 'It did not work, for a reason that none of the others names.',
  usage: 'The command line is not understood: an unknown command or option, a missing or wrong value.',
  pending: 'Of `hw apply --plan`: it worked, and something would change.',
  unauthorized: 'Not logged in, or the key is not valid or may not do that.',
  notFound: 'Nothing has that id or name.',
  unreachable: 'The server cannot be reached, or is not ready.',
  component: 'The component is at fault: its code cannot be used, a hook failed, or it refuses how it is configured.',
  interrupted: 'Ended by Ctrl-C.',
};
