import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  dependencies?: Record<string, unknown>;
  devDependencies?: Record<string, unknown>;
}

export interface VersionFinder {
  /** Which version of a package the nearest package.json from a folder upwards asks for. */
  versionOf(name: string, folder: string): string | undefined;
  /** Every package.json that there is on the ways so far, absolute. */
  manifests(): string[];
}

/** Reads each file once. */
export function createVersionFinder(): VersionFinder {
  const manifests = new Map<string, Manifest | undefined>();

  function manifestOf(folder: string): Manifest | undefined {
    if (!manifests.has(folder)) manifests.set(folder, readManifest(path.join(folder, 'package.json')));
    return manifests.get(folder);
  }

  return {
    versionOf(name, folder) {
      for (let at = folder; ; at = path.dirname(at)) {
        const manifest = manifestOf(at);
        if (manifest !== undefined) {
          const range = manifest.dependencies?.[name] ?? manifest.devDependencies?.[name];
          return typeof range === 'string' ? range : undefined;
        }
        if (path.dirname(at) === at) return undefined;
      }
    },
    manifests() {
      const found = [...manifests].filter(([, manifest]) => manifest !== undefined);
      return found.map(([folder]) => path.join(folder, 'package.json'));
    },
  };
}

function readManifest(file: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    return typeof manifest === 'object' && manifest !== null ? manifest : undefined;
  } catch {
    // None here, or none that npm could read either: the next one upwards counts.
    return undefined;
  }
}
