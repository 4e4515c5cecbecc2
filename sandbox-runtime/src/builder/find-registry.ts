import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HeadwaterError } from '@headwater/shared';

const ASK_MS = 10_000;
/** It is the operator's to mend. */
const RETRY_AFTER_S = 60;

export interface RegistrySettings {
  url: string;
  /** PEM file of the authorities that npm trusts besides Node's own; absent: none. */
  cafile?: string;
}

/**
 * The registry in npm's settings on this machine, for the user of this process. Throws UNAVAILABLE
 * if npm does not answer.
 */
export async function findRegistry(): Promise<RegistrySettings> {
  try {
    const args = ['config', 'get', 'registry', 'cafile'];
    const { stdout } = await promisify(execFile)('npm', args, { timeout: ASK_MS, cwd: '/' });
    const settings = new Map(stdout.split('\n').map((line) => splitOnce(line.trim())));
    const url = new URL(settings.get('registry') ?? '');
    const cafile = settings.get('cafile');
    if (url.protocol === 'https:' || url.protocol === 'http:') {
      return { url: url.href, ...(cafile === undefined || cafile === 'null' || cafile === '' ? {} : { cafile }) };
    }
  } catch {
    // Not installed, or it says something else: the same answer.
  }
  throw new HeadwaterError(
    'UNAVAILABLE',
    'Packages cannot be fetched: npm does not say which registry it uses. Set HEADWATER_NPM_REGISTRY to its URL.',
    { retryAfterSeconds: RETRY_AFTER_S },
  );
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf('=');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
