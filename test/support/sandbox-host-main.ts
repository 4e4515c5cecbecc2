import { startSandbox } from '@headwater/sandbox-runtime';
import { recordingHost } from './run-host.ts';
import { runIn, withRun } from './sandbox-kit.ts';

/*
 * A program that starts a sandbox, keeps one of its runs in a loop, and prints the process ids of
 * its children.
 */
const sandbox = await startSandbox();
const host = { ...recordingHost(), emit: () => console.log('looping') };
await runIn(sandbox, withRun(`this.$emit(1); for (;;);`), { host, cpuMs: 60_000, wallMs: 60_000 });
