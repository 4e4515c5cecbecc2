import { deepStrictEqual } from 'node:assert/strict';
import { afterAll, beforeAll, vi } from 'vitest';
import { eventually } from './eventually.ts';

/*
 * Loaded before each file of those that run one after the other in the same process: a file that leaves behind what the next one
 * would meet fails itself, by its name.
 */

/** Children, and what listens: they keep a process alive. */
const STARTED = new Set(['ProcessWrap', 'TCPServerWrap', 'PipeServerWrap']);
const ENDING_MS = 5_000;

let before: ReturnType<typeof look>;

// Packages set globals as they are loaded, once: by now they are.
beforeAll(() => {
  before = look();
});

// What was told to end may need a moment.
afterAll(() =>
  eventually(
    () => {
      deepStrictEqual(look(), before);
      return true;
    },
    { timeoutMs: ENDING_MS, what: 'this file to leave nothing behind in a process that others use after it' },
  ),
);

function look() {
  return {
    environment: { ...process.env },
    folder: process.cwd(),
    globals: Object.getOwnPropertyNames(globalThis).toSorted(),
    listeners: process
      .eventNames()
      .filter(isSignal)
      .map((name) => [String(name), process.listenerCount(name)]),
    fakeTimers: vi.isFakeTimers(),
    started: process.getActiveResourcesInfo().filter((kind) => STARTED.has(kind)).length,
  };
}

function isSignal(name: string | symbol): boolean {
  return typeof name === 'string' && name.startsWith('SIG');
}
