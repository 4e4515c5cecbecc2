import { deepStrictEqual } from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { afterAll, beforeAll, vi } from 'vitest';
import { eventually } from './eventually.ts';
import { sharedNodePort } from './shared-node.ts';

/*
 * Loaded before each file of those that run one after the other in the same process: a file that
 * leaves behind what the next one would meet fails itself, by its name.
 */

const ENDING_MS = 5_000;

let before: ReturnType<typeof look>;

// Packages set globals as they are loaded, once: by now they are.
beforeAll(() => {
  before = look();
});

// Processes that were told to end may need a moment.
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
    started: startedHandles().length,
  };
}

/**
 * Children, and what listens: they keep a process alive. Those of the node that files share stay
 * until the worker ends.
 */
function startedHandles(): unknown[] {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): object[] };
  const nodePort = sharedNodePort();
  return handles.call(process).filter((handle) => {
    if (handle instanceof Server) {
      const address = handle.address();
      return typeof address !== 'object' || address?.port !== nodePort;
    }
    return handle instanceof ChildProcess && (nodePort === undefined || !isOfNode(handle));
  });
}

const isOfNode = ({ spawnargs }: ChildProcess) => spawnargs.some((word) => word.includes('/sandbox-runtime/src/'));

function isSignal(name: string | symbol): boolean {
  return typeof name === 'string' && name.startsWith('SIG');
}
