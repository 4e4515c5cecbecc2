import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT_DIR } from '../system/boot-system.ts';

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

interface ProfileNode {
  id: number;
  callFrame: CallFrame;
  children?: number[];
}

/** `Profiler.Profile` of the Chrome DevTools protocol. */
export interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

interface ProfileEntry {
  name: string;
  selfMs: number;
  /** Part of the process's busy time. */
  share: number;
}

export interface ProfileSummary {
  busyMs: number;
  /** By function; native code and Node's own by the function outside Node that called it. */
  functions: ProfileEntry[];
  /** By package or file of ours; native code and Node's own counts as its caller's. */
  places: ProfileEntry[];
}

const IDLE = '(idle)';

/**
 * Time of a profile by function and place, largest first. It is wall time, so waiting for a core
 * counts.
 */
export function summarizeProfile(profile: CpuProfile): ProfileSummary {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const callers = findCallers(profile.nodes);
  const byFunction = new Map<string, number>();
  const byPlace = new Map<string, number>();
  let busyMs = 0;
  for (const [i, id] of profile.samples.entries()) {
    const frame = nodes.get(id)?.callFrame;
    if (frame === undefined || frame.functionName === IDLE) continue;
    // The time after a sample is that of its function; the last one has none.
    const ms = (profile.timeDeltas[i + 1] ?? 0) / 1_000;
    busyMs += ms;
    const caller = callers.get(id);
    const name = frame === caller || caller === undefined ? nameOf(frame) : `${nameOf(frame)} for ${nameOf(caller)}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + ms);
    const place = caller === undefined ? nativePlaceOf(frame) : groupOf(placeOf(caller.url));
    byPlace.set(place, (byPlace.get(place) ?? 0) + ms);
  }
  return { busyMs, functions: top(byFunction, busyMs), places: top(byPlace, busyMs) };
}

/**
 * For each node the nearest frame from it upwards that is a file of ours or of a package; none:
 * Node's own doing.
 */
function findCallers(nodes: readonly ProfileNode[]): Map<number, CallFrame> {
  const callers = new Map<number, CallFrame>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  // A profile lists parents before their children.
  for (const node of nodes) {
    if (node.callFrame.url.startsWith('file:')) callers.set(node.id, node.callFrame);
    const caller = callers.get(node.id);
    for (const child of node.children ?? []) {
      if (caller !== undefined && byId.has(child)) callers.set(child, caller);
    }
  }
  return callers;
}

function nameOf(frame: CallFrame): string {
  const name = frame.functionName || '(anonymous)';
  return frame.url === '' ? name : `${name} ${placeOf(frame.url)}:${frame.lineNumber + 1}`;
}

/** Path from the project's root, or the name of a module of Node's own. */
function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  return path.relative(PROJECT_DIR, fileURLToPath(url));
}

/**
 * Work that no file asked for: the parser's callbacks, streams, timers and promises of Node, and
 * V8's own in brackets.
 */
function nativePlaceOf({ functionName }: CallFrame): string {
  return functionName.startsWith('(') ? functionName : 'Node itself';
}

/** A package as a whole, our own files one by one. */
function groupOf(place: string): string {
  return /(?:^|\/)(node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(place)?.[1] ?? place;
}

function top(byName: ReadonlyMap<string, number>, busyMs: number): ProfileEntry[] {
  return [...byName]
    .map(([name, selfMs]) => ({ name, selfMs: Math.round(selfMs), share: selfMs / busyMs }))
    .toSorted((a, b) => b.selfMs - a.selfMs);
}
