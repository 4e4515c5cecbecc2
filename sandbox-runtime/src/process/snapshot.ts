import ivm from 'isolated-vm';

/**
 * The heap of an isolate in which the guest has been loaded: a new isolate starts from it instead of running the code.
 * Made once a node, by its first process before that has seen any component, and handed to every later one.
 */
export function makeSnapshot(guestCode: string): Uint8Array {
  return new Uint8Array(ivm.Isolate.createSnapshot([{ code: guestCode, filename: 'hw:guest' }]).copy());
}

export function openSnapshot(bytes: Uint8Array | undefined): ivm.ExternalCopy<ArrayBuffer> {
  // A buffer of its own: a view on the frame it came in would bring the rest of the frame along.
  return new ivm.ExternalCopy(new Uint8Array(bytes ?? []).buffer);
}
