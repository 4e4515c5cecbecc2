import { readFile } from 'node:fs/promises';

/** The code of a component in the folder `registry`, by its key. */
export function readStarter(key: string): Promise<string> {
  return readFile(new URL(`../../registry/${key.replace('_', '-')}.mjs`, import.meta.url), 'utf8');
}

/**
 * An action as a source that runs it at each manual run, and emits `{ result, summary, exit,
 * delayMs }` or `{ error }`. It uses the real product, except the `$` of workflows, of which it has
 * the members that these actions call.
 */
export function asSource(action: string): string {
  return `${action.replace('export default', 'const action =')}
    const { key, type, run: runAction, ...rest } = action;
    export default { ...rest, async run() {
      const seen = {};
      const $ = {
        export(name, value) { seen[name] = value; },
        flow: { exit(reason) { seen.exit = reason; }, delay(ms) { seen.delayMs = ms; } },
      };
      try {
        const result = await runAction.call(this, { $ });
        this.$emit({ result, summary: seen.$summary, exit: seen.exit, delayMs: seen.delayMs });
      } catch (error) {
        this.$emit({ error: error.message });
      }
    } };`;
}
