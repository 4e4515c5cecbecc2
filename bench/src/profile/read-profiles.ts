import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT_DIR } from '../system/boot-system.ts';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
}

/** As `node --cpu-prof` writes it (Chrome DevTools protocol, Profiler.Profile). */
interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

interface ProfileEntry {
  name: string;
  selfMs: number;
  /** Of the time in which the process did anything. */
  share: number;
}

export interface ProfileSummary {
  file: string;
  busyMs: number;
  functions: ProfileEntry[];
  places: ProfileEntry[];
}

/** One summary a profile in the folder, the busiest first. */
export function readProfiles(dir: string): ProfileSummary[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'));
  const summaries = files.map((name) =>
    summarizeProfile(name, JSON.parse(readFileSync(path.join(dir, name), 'utf8')) as CpuProfile),
  );
  return summaries.toSorted((a, b) => b.busyMs - a.busyMs);
}

const IDLE = '(idle)';

function summarizeProfile(file: string, profile: CpuProfile): ProfileSummary {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const byFunction = new Map<string, number>();
  const byPlace = new Map<string, number>();
  let busyMs = 0;
  for (const [i, id] of profile.samples.entries()) {
    const frame = nodes.get(id)?.callFrame;
    if (frame === undefined || frame.functionName === IDLE) continue;
    // The time after a sample is that of its function; the last one has none.
    const ms = (profile.timeDeltas[i + 1] ?? 0) / 1_000;
    busyMs += ms;
    const place = placeOf(frame.url);
    const name = `${frame.functionName || '(anonymous)'} ${place}${frame.url === '' ? '' : `:${frame.lineNumber + 1}`}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + ms);
    const group = frame.url === '' ? frame.functionName : groupOf(place);
    byPlace.set(group, (byPlace.get(group) ?? 0) + ms);
  }
  return { file, busyMs, functions: top(byFunction, busyMs), places: top(byPlace, busyMs) };
}

/** Path from the project's root, or the name of a module of Node's own. */
function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  return path.relative(PROJECT_DIR, fileURLToPath(url));
}

/** A package as a whole, Node's own modules by name, our own files one by one. */
function groupOf(place: string): string {
  return /(?:^|\/)(node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(place)?.[1] ?? place;
}

function top(byName: ReadonlyMap<string, number>, busyMs: number): ProfileEntry[] {
  return [...byName]
    .map(([name, selfMs]) => ({ name, selfMs: Math.round(selfMs), share: selfMs / busyMs }))
    .toSorted((a, b) => b.selfMs - a.selfMs);
}
