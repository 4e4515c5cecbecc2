import { completionScript, SHELLS } from '../completion/shell-scripts.ts';
import { usageError } from '../cli-error.ts';
import type { CommandSpec } from '../command.ts';

export const completion: CommandSpec = {
  path: 'completion',
  summary: 'A script that teaches the shell to complete commands, options and names',
  arguments: [{ name: 'shell', summary: SHELLS.join(', '), completes: { words: SHELLS } }],
  examples: [
    { does: 'bash, in ~/.bashrc', command: 'eval "$(hw completion bash)"' },
    { does: 'zsh, in ~/.zshrc after compinit', command: 'eval "$(hw completion zsh)"' },
    { does: 'fish', command: 'hw completion fish > ~/.config/fish/completions/hw.fish' },
  ],
  json: '{ shell, script }',
  async run({ input }) {
    const word = input.argument('shell');
    const shell = SHELLS.find((name) => name === word);
    if (shell === undefined)
      throw usageError(`${word} is not a shell that is known`, `There are: ${SHELLS.join(', ')}`);
    const script = completionScript(shell);
    return { json: { shell, script }, text: script, quiet: script };
  },
};
