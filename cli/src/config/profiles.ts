import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomToken } from '@headwater/shared';
import { CliError } from '../cli-error.ts';

interface Profile {
  url: string;
  apiKey: string;
}

/** Logins by name, in one file that only its owner may read. */
export interface Profiles {
  file: string;
  get(name: string): Promise<Profile | undefined>;
  names(): Promise<string[]>;
  put(name: string, profile: Profile): Promise<void>;
  /** False: there was none. */
  remove(name: string): Promise<boolean>;
}

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

const ELSEWHERE = 'XDG_CONFIG_HOME names another folder; HEADWATER_URL and HEADWATER_API_KEY need no file';

/** `warn` hears of a file that others could read. */
export function openProfiles(folder: string, warn: (text: string) => void = () => undefined): Profiles {
  const file = path.join(folder, 'config.json');
  return {
    file,
    async get(name) {
      const all = await readAll(file);
      if (await isOpenToOthers(file)) warn(`others on this machine can read your keys: chmod 600 ${file}`);
      return all.get(name);
    },
    names: async () => [...(await readAll(file)).keys()].toSorted(),
    async put(name, profile) {
      const all = await readAll(file);
      await writeAll(folder, file, all.set(name, profile));
    },
    async remove(name) {
      const all = await readAll(file);
      if (!all.delete(name)) return false;
      await writeAll(folder, file, all);
      return true;
    },
  };
}

async function readAll(file: string): Promise<Map<string, Profile>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new CliError('failure', `${file} cannot be read: ${(cause as Error).message}`, { hint: ELSEWHERE, cause });
  }
  return parse(file, text);
}

async function isOpenToOthers(file: string): Promise<boolean> {
  // Modes mean nothing there.
  if (process.platform === 'win32') return false;
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && (found.mode & 0o077) !== 0;
}

function parse(file: string, text: string): Map<string, Profile> {
  const broken = new CliError('failure', `${file} is not what hw writes`, {
    hint: 'Remove it and log in again: hw login',
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken;
  }
  const { profiles } = (value ?? {}) as { profiles?: Record<string, { url?: unknown; api_key?: unknown }> };
  if (typeof profiles !== 'object' || profiles === null) throw broken;
  const found = new Map<string, Profile>();
  for (const [name, profile] of Object.entries(profiles)) {
    const { url, api_key: apiKey } = profile ?? {};
    if (typeof url !== 'string' || typeof apiKey !== 'string') throw broken;
    found.set(name, { url, apiKey });
  }
  return found;
}

/** The old file or the new one at every moment. */
async function writeAll(folder: string, file: string, all: ReadonlyMap<string, Profile>): Promise<void> {
  const profiles = Object.fromEntries([...all].map(([name, { url, apiKey }]) => [name, { url, api_key: apiKey }]));
  const draft = `${file}.${randomToken(8)}`;
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await chmod(folder, FOLDER_MODE);
    await writeFile(draft, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: FILE_MODE, flag: 'wx' });
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw new CliError('failure', `${file} cannot be written: ${(cause as Error).message}`, { hint: ELSEWHERE, cause });
  }
}
