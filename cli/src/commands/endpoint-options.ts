import type { OptionSpec } from '../command.ts';

export const PREFLIGHT_OPTION: OptionSpec = {
  name: 'preflight',
  value: 'what',
  choices: ['allow', 'run'],
  summary: "Whether its endpoints answer a browser's CORS preflight themselves, or run the code for it. New: allow.",
};

export const DURABILITY_OPTION: OptionSpec = {
  name: 'durability',
  value: 'what',
  choices: ['stored', 'none'],
  summary: 'Whether requests to its endpoints are stored before they run, or lost in a crash of the node. New: stored.',
};
