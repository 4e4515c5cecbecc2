import { NODE_FACTS } from '../node-facts.ts';
import { notAvailable, requireFunction } from '../errors.ts';
import { readFlags, readFilePath } from './arguments.ts';
import { FileHandle } from './file-handle.ts';
import { makeFileStreams } from './file-streams.ts';
import { Dirent, Stats } from './stats.ts';
import { makeSyncCalls, type SyncCalls } from './sync-calls.ts';
import type { Volume } from './volume.ts';

const { fsConstants: FS_CONSTANTS } = NODE_FACTS;

type Callback = (...values: unknown[]) => void;
type AnyCall = (...args: unknown[]) => unknown;

/** Callbacks of these also get their argument back, or no error. */
const EXTRA_RESULT = new Set(['read', 'write', 'writev']);

/** Functions with two arguments before any options. */
const PAIRS = new Set(['writeFile', 'appendFile', 'rename', 'copyFile', 'link', 'symlink', 'write', 'writev']);

/** `fs`: files in memory, below `/tmp`, of the run that asks. `volume` finds that run's. */
export function makeFs(volume: () => Volume): Record<string, unknown> {
  const calls = makeSyncCalls(volume);
  const streams = makeFileStreams(calls);
  const fs: Record<string, unknown> = {
    constants: FS_CONSTANTS,
    Stats,
    Dirent,
    ...streams,
    promises: makeFsPromises(calls),
  };
  for (const name of Object.keys(calls)) {
    const call = calls[name] as AnyCall;
    fs[`${name}Sync`] = call;
    fs[name] = name === 'exists' ? existsWithCallback(call) : withCallback(name, call);
  }
  Object.assign(fs, { FileReadStream: fs['ReadStream'], FileWriteStream: fs['WriteStream'] });
  for (const name of ['F_OK', 'R_OK', 'W_OK', 'X_OK']) fs[name] = FS_CONSTANTS[name];
  for (const name of [
    'watch',
    'watchFile',
    'unwatchFile',
    'opendir',
    'opendirSync',
    'cp',
    'cpSync',
    'glob',
    'globSync',
    'statfs',
    'statfsSync',
    'openAsBlob',
  ])
    fs[name] = (): never => {
      throw notAvailable(`fs.${name}`);
    };
  const realpath = fs['realpath'] as { native?: unknown };
  realpath.native = (...args: unknown[]) => (realpath as unknown as AnyCall)(...args);
  const realpathSync = fs['realpathSync'] as { native?: unknown };
  realpathSync.native = (...args: unknown[]) => (realpathSync as unknown as AnyCall)(...args);
  return fs;
}

function withCallback(name: string, call: AnyCall): AnyCall {
  return (...args) => {
    const done = args.length > (PAIRS.has(name) ? 2 : 1) ? (args.at(-1) as Callback) : undefined;
    requireFunction('cb', done);
    const given = args.slice(0, -1);
    const answer: unknown[] = [];
    try {
      answer.push(null, call(...given));
      if (EXTRA_RESULT.has(name)) answer.push(given[1]);
    } catch (error) {
      // A wrong argument is the caller's mistake and thrown at once, as Node does.
      if (error instanceof TypeError) throw error;
      answer.splice(0, 2, error);
    }
    setImmediate(done as Callback, ...answer);
  };
}

function existsWithCallback(call: AnyCall): AnyCall {
  return (path, done) => {
    requireFunction('cb', done);
    setImmediate(done as Callback, call(path));
  };
}

/** `fs/promises`. */
function makeFsPromises(calls: SyncCalls): Record<string, unknown> {
  const promises: Record<string, unknown> = { constants: FS_CONSTANTS };
  const handleCalls = ['read', 'write', 'writev', 'close', 'exists'];
  for (const name of Object.keys(calls).filter(
    (candidate) => !handleCalls.includes(candidate) && !/^f[sdctu]/.test(candidate),
  )) {
    const call = calls[name] as AnyCall;
    promises[name] = async (target: unknown, ...rest: unknown[]) =>
      call(target instanceof FileHandle ? target.fd : target, ...rest);
  }
  const { writeFile } = promises as { writeFile: AnyCall };
  promises['writeFile'] = async (target: unknown, data: unknown, options?: unknown) =>
    writeFile(target, isChunks(data) ? await collect(data) : data, options);
  promises['open'] = async (path: unknown, flags?: unknown, mode?: unknown) => {
    readFlags(flags);
    return new FileHandle(calls, (calls['open'] as AnyCall)(readFilePath(path), flags, mode) as number);
  };
  return promises;
}

function isChunks(data: unknown): data is AsyncIterable<string | Uint8Array> {
  return (
    typeof data === 'object' &&
    data !== null &&
    !ArrayBuffer.isView(data) &&
    (Symbol.asyncIterator in data || Symbol.iterator in data)
  );
}

async function collect(chunks: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(parts);
}
