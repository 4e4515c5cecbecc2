import {
  formatWithOptions,
  inspect as inspectAsNode,
  type InspectOptions as NodeInspectOptions,
} from 'node-inspect-extracted';
import { giveName } from './give-names.ts';

export type InspectOptions = NodeInspectOptions;

export const CUSTOM = Symbol.for('nodejs.util.inspect.custom');
/** One more than a log line may have: the log cuts it again and reports that. */
const MAX_LOG_CHARS = 64 * 1024 + 1;

/** `util.inspect`: Node's own code, as a package of npm. */
export const inspect = giveName(inspectAsNode, 'inspect');

/** `util.format`, and with options `util.formatWithOptions`. */
export function formatWith(options: InspectOptions, args: readonly unknown[]): string {
  return formatWithOptions(options, ...args);
}

/** As `console` shows its arguments: values beyond the longest line of a log are left out. */
export function formatForLog(args: readonly unknown[]): string {
  return formatWith(bounded(), args);
}

/** As `console.dir` shows a value, and as `formatForLog` bounds it. */
export function inspectForLog(value: unknown, options?: InspectOptions): string {
  return inspect(value, { customInspect: false, ...bounded(), ...options });
}

/** A huge value must not fill the isolate with a text that is cut anyway. */
function bounded(): InspectOptions {
  let left = MAX_LOG_CHARS;
  const stylize = (text: string): string => {
    if (left <= 0) return '…';
    left -= text.length;
    return text;
  };
  // Not in the types: Node hands it to custom functions, and takes it back from them.
  return { stylize } as InspectOptions;
}
