import type { Bridge } from './bridge.ts';

/*
 * The classes of the web platform are made while the snapshot is built, so that packages in it can
 * name and extend them. The bridge exists later, once for each isolate: it is put here when the
 * isolate starts, before any component.
 */
let slot: Bridge | undefined;

export function connectBridge(bridge: Bridge): void {
  slot = bridge;
}

export function theBridge(): Bridge {
  if (slot === undefined) throw new Error('The platform has not started yet');
  return slot;
}
