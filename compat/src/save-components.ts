import path from 'node:path';
import { saveComponent, type Target } from './api-client.ts';
import { bundleRelative } from './bundle-relative.ts';
import { classifyFailure } from './classify-failure.ts';
import { forEachOf } from './for-each-of.ts';
import { createPackageVersions } from './package-versions.ts';

export interface Failure {
  /** Path of the component's file, relative to the folder. */
  path: string;
  cause: string;
  message: string;
}

export interface SavedComponents {
  total: number;
  saved: number;
  /** By path. */
  failed: Failure[];
  /** Duration of each save, from request to answer, refusals included. */
  saveMs: number[];
  elapsedMs: number;
}

export interface SaveOptions {
  folder: string;
  /** Relative to `folder`. */
  files: readonly string[];
  concurrency: number;
  target: Target;
  onProgress: (done: number, failed: number) => void;
}

/**
 * Bundles each component's own files and saves it, several at a time. A failure does not end the
 * others.
 */
export async function saveComponents(options: SaveOptions): Promise<SavedComponents> {
  const startedMs = performance.now();
  const root = path.resolve(options.folder);
  const versions = createPackageVersions(root);
  const failed: Failure[] = [];
  const saveMs: number[] = [];

  async function save(file: string): Promise<void> {
    const bundle = await bundleRelative(root, file, versions);
    if (!bundle.ok) {
      failed.push({ path: file, cause: `bundle: ${classifyFailure(bundle.message)}`, message: bundle.message });
      return;
    }
    const sentMs = performance.now();
    const outcome = await saveComponent(options.target, bundle.code);
    saveMs.push(performance.now() - sentMs);
    if (outcome.ok) return;
    const { status, message } = outcome;
    const isJudged = status === 400 || status === 422;
    failed.push({ path: file, cause: isJudged ? classifyFailure(message) : `status ${status}`, message });
  }

  await forEachOf(options.files, options.concurrency, async (file, done) => {
    await save(file);
    options.onProgress(done(), failed.length);
  });
  failed.sort((a, b) => (a.path < b.path ? -1 : 1));
  const total = options.files.length;
  return { total, saved: total - failed.length, failed, saveMs, elapsedMs: performance.now() - startedMs };
}
