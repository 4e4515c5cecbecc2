/** `*` stands for any characters, none and dots included. */
const WILDCARD = '*';

export const isChannelPattern = (channel: string): boolean => channel.includes(WILDCARD);

/**
 * Whether a channel is one of a pattern's. Built-in channels (`$errors`, `$logs`) are so only where
 * the pattern begins with `$`.
 */
export function matchesChannel(pattern: string, channel: string): boolean {
  if (!isChannelPattern(pattern)) return pattern === channel;
  if (channel.startsWith('$') && !pattern.startsWith('$')) return false;
  const parts = pattern.split(WILDCARD);
  const [first, last] = [parts[0] ?? '', parts.at(-1) ?? ''];
  if (channel.length < first.length + last.length) return false;
  if (!channel.startsWith(first) || !channel.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = channel.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= channel.length - last.length;
}
