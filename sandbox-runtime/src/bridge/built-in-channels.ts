/**
 * What the system itself writes to. A record that a component put there would pass for one of ours.
 */
const BUILT_IN_CHANNELS: readonly string[] = ['$errors', '$logs', '$sse', '$webhooks'];

export function isBuiltInChannel(name: string): boolean {
  return BUILT_IN_CHANNELS.includes(name);
}
