import { closeSync, readSync } from 'node:fs';
import ivm from 'isolated-vm';
import type { OpenFile } from '../bridge/messages.ts';

/**
 * The heap of an isolate in which the guest has been loaded: a new isolate starts from it instead
 * of running the code. Made once a node, by its first process before that has seen any component,
 * and handed to every later one.
 */
export function makeSnapshot(guestCode: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(ivm.Isolate.createSnapshot([{ code: guestCode, filename: 'hw:guest' }]).copy());
}

/** Other processes read the same open file: the place in it is not this one's to move. */
export function readSnapshot({ fd, bytes }: OpenFile): Uint8Array<ArrayBuffer> {
  const snapshot = new Uint8Array(bytes);
  for (let at = 0; at < bytes; ) {
    const count = readSync(fd, snapshot, at, bytes - at, at);
    if (count === 0) throw new Error(`The snapshot of the guest ends after ${at} of ${bytes} bytes`);
    at += count;
  }
  closeSync(fd);
  return snapshot;
}

export function openSnapshot({ buffer }: Uint8Array<ArrayBuffer>): ivm.ExternalCopy<ArrayBuffer> {
  return new ivm.ExternalCopy(buffer);
}
