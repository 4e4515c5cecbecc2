import { benchAnswer } from './answer/answer.ts';
import { type BenchArguments, readArguments, USAGE } from './arguments.ts';
import { benchDeliver } from './deliver/deliver.ts';
import { benchE2e } from './e2e.ts';
import { benchLists } from './lists/lists.ts';
import { benchHostile } from './hostile.ts';
import { benchIngest } from './ingest.ts';
import { benchRun } from './run.ts';
import { benchIsolate } from './isolate.ts';
import { benchRecovery } from './recovery/recovery.ts';
import { benchStart } from './start.ts';
import { benchTimers } from './timers.ts';
import { benchWaiting } from './waiting/waiting.ts';
import { benchWorkflow } from './workflow.ts';
import { createUndo, type Undo } from './undo.ts';

/** Answers false when what was measured was also wrong. */
type Command = (undo: Undo, options: BenchArguments) => Promise<boolean>;

const COMMANDS: Record<string, Command> = {
  e2e: benchE2e,
  ingest: benchIngest,
  answer: benchAnswer,
  run: benchRun,
  isolate: benchIsolate,
  hostile: benchHostile,
  deliver: benchDeliver,
  lists: benchLists,
  recovery: benchRecovery,
  start: benchStart,
  timers: benchTimers,
  waiting: benchWaiting,
  workflow: benchWorkflow,
};
const USAGE_EXIT_CODE = 2;

async function main(): Promise<number> {
  let options: BenchArguments;
  try {
    options = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  const command = COMMANDS[options.command];
  if (command === undefined) {
    console.error(USAGE);
    return USAGE_EXIT_CODE;
  }
  const undo = createUndo();
  try {
    return (await command(undo, options)) ? 0 : 1;
  } catch (error) {
    console.error(error);
    return 1;
  } finally {
    await undo.run();
  }
}

process.exit(await main());
