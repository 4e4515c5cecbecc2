/**
 * Channels that only the system writes. A component's record there would look like one of the
 * system.
 */
const BUILT_IN_CHANNELS: readonly string[] = ['$errors', '$logs', '$sse', '$webhooks'];

export function isBuiltInChannel(name: string): boolean {
  return BUILT_IN_CHANNELS.includes(name);
}
