import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HeadwaterError } from '@headwater/shared';

const ASK_MS = 10_000;

/**
 * The registry that npm is set to use on this machine, for whoever runs this process. Throws UNAVAILABLE where npm cannot be
 * asked.
 */
export async function findRegistry(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], { timeout: ASK_MS, cwd: '/' });
    const url = new URL(stdout.trim());
    if (url.protocol === 'https:' || url.protocol === 'http:') return url.href;
  } catch {
    // Not installed, or it says something else: the same answer.
  }
  throw new HeadwaterError(
    'UNAVAILABLE',
    'Packages cannot be fetched: npm does not say which registry it uses. Set HEADWATER_NPM_REGISTRY to its URL.',
  );
}
