import { sandboxForFile, withRun } from './sandbox-kit.ts';

/** Answer of each case: its result, or the name of its error. */
type Answers = Record<string, unknown>;

/**
 * Runs functions in an isolate and in this Node, and answers what they give there, as JSON. The
 * functions are sent as text, so they may use nothing from around them but globals.
 */
export function sameAsNode(): (cases: Record<string, () => unknown>) => Promise<{ guest: unknown; node: unknown }> {
  const sandbox = sandboxForFile();
  return async (cases) => {
    const bodies = Object.entries(cases).map(([name, run]) => `${JSON.stringify(name)}: ${run.toString()}`);
    const { outcome, host } = await sandbox.run(
      withRun(
        `const answers = {};
         for (const [name, run] of Object.entries(cases)) answers[name] = await settle(run);
         this.$emit(answers);`,
        `const cases = { ${bodies.join(',\n')} };\nconst settle = ${settle.toString()};`,
      ),
    );
    if (!outcome.ok) throw new Error(`${outcome.fault.message}\n${outcome.fault.stack}`);
    const node: Answers = {};
    for (const [name, run] of Object.entries(cases)) node[name] = await settle(run);
    return { guest: host.data()[0], node: JSON.parse(JSON.stringify(node)) };
  };
}

async function settle(run: () => unknown): Promise<unknown> {
  try {
    return { value: (await run()) ?? null };
  } catch (error) {
    return { thrown: (error as Error).name };
  }
}
