import { Socket } from 'node:net';
import { FrameReader, FrameWriter } from '../bridge/frames.ts';
import { sendToHost } from '../bridge/frames-to-host.ts';
import { readToSandbox } from '../bridge/frames-to-worker.ts';
import type { ToHost } from '../bridge/messages.ts';
import { allowOnlyNeededCalls } from '../syscall-filter/install-filter.ts';
import { SandboxWorker } from './sandbox-worker.ts';
import { makeSnapshot, openSnapshot, readSnapshot } from './snapshot.ts';

/** Descriptor of the pipe to the engine's side. */
const CHANNEL_FD = 3;
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

// `process.exit` waits for isolates and would hang on one that does not yield.
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}

/**
 * All necessary files are open by now. Deleting `dlopen` also closes the way back to the native
 * module that made the filter.
 */
function giveUpSyscalls(koffiPath: string | undefined): void {
  if (koffiPath !== undefined) allowOnlyNeededCalls(koffiPath);
  Reflect.deleteProperty(process, 'dlopen');
}

function main(): void {
  const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  const writer = new FrameWriter((bytes) => void channel.write(bytes));
  const send = (message: ToHost): void => sendToHost(writer, message);
  const reader = new FrameReader(MAX_FRAME_BYTES);
  let worker: SandboxWorker | undefined;
  channel.on('data', (chunk) => {
    for (const frame of reader.push(chunk)) {
      const message = readToSandbox(frame);
      if (message.kind === 'start') {
        const { settings, guest } = message;
        const isCode = typeof guest === 'string';
        const snapshot = isCode ? makeSnapshot(guest) : readSnapshot(guest);
        giveUpSyscalls(process.argv[3]);
        worker = new SandboxWorker(settings, openSnapshot(snapshot), send);
        send({ kind: 'ready', snapshot: isCode ? snapshot : undefined });
      } else worker?.handle(message);
    }
  });
  // The node is gone, or it ends this process.
  channel.on('error', endProcess);
  channel.on('close', endProcess);
}

// Dates are the same on every machine, and tell nothing of this one.
process.env['TZ'] = 'UTC';
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`, endProcess);
});
main();
