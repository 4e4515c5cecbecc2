import type { Duplex } from 'node:stream';
import { FrameError, FrameReader, FrameWriter } from '../bridge/frames.ts';
import { readFromSandbox } from '../bridge/frames-to-host.ts';
import { sendToSandbox } from '../bridge/frames-to-worker.ts';
import type { FromSandbox, ToSandbox } from '../bridge/messages.ts';

/** A fetch body and its head are the largest message a process has to send. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Bytes that wait for a process which does not read. */
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

interface ChannelEvents {
  /** May throw FrameError for a message that is out of place. */
  message(message: FromSandbox): void;
  /** The process broke the protocol: nothing more that it says is read. */
  broken(reason: string): void;
  /** The process reads nothing any more. */
  stuck(): void;
  /** How long nothing more is to be read after these bytes. */
  restMs(bytes: number): number;
}

/** The pipe to a sandbox process, as checked messages. */
export class FrameChannel {
  readonly #pipe: Duplex;
  readonly #writer: FrameWriter;

  constructor(pipe: Duplex, events: ChannelEvents) {
    this.#pipe = pipe;
    this.#writer = new FrameWriter((bytes) => {
      if (pipe.destroyed) return;
      pipe.write(bytes);
      if (pipe.writableLength > MAX_UNSENT_BYTES) events.stuck();
    });
    // The end of the process tells more than the end of its pipe.
    pipe.on('error', () => undefined);
    this.#listen(events);
  }

  send(message: ToSandbox): void {
    if (!this.#pipe.destroyed) sendToSandbox(this.#writer, message);
  }

  #listen(events: ChannelEvents): void {
    const reader = new FrameReader(MAX_FRAME_BYTES);
    this.#pipe.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) events.message(readFromSandbox(frame));
        this.#rest(events.restMs(chunk.length));
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        this.#pipe.removeAllListeners('data').resume();
        events.broken(error.message);
      }
    });
  }

  #rest(ms: number): void {
    if (ms <= 0) return;
    this.#pipe.pause();
    setTimeout(() => this.#pipe.resume(), ms).unref();
  }
}
