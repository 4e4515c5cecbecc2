import type { OptionSpec } from '../command.ts';

export const PREFLIGHT_OPTION: OptionSpec = {
  name: 'preflight',
  value: 'what',
  choices: ['allow', 'run'],
  summary: "Whether its endpoints answer a browser's CORS preflight themselves, or run the code for it. New: allow.",
};
