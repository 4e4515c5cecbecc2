import { usageError } from '../cli-error.ts';
import type { OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';

/** For changes that must not overwrite another user's change. */
export const IF_MATCH: OptionSpec = {
  name: 'if-match',
  value: 'etag',
  summary: 'Only where nobody has changed it since: the `etag` of `hw describe`. Else nothing is written.',
};

/** As the header is written; a shell takes the quotes of `"3"` away. */
export function ifMatchHeader({ input }: Pick<CommandContext, 'input'>): Record<string, string> {
  const etag = input.text('if-match');
  if (etag === undefined) return {};
  const tag = /^"?([\w-]{1,64})"?$/.exec(etag)?.[1];
  if (tag === undefined)
    throw usageError(`--if-match takes an etag such as 3, not ${etag}`, 'See it: hw describe <name>');
  return { 'if-match': `"${tag}"` };
}
