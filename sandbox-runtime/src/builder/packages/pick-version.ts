import semver from 'semver';
import { PackageError } from './package-error.ts';
import type { Manifest, Packument } from './manifest.ts';

/**
 * The version that npm would choose: the target of a tag; else `latest` if it is in the range; else
 * the highest in the range. Deprecated versions come last. Throws PackageError, which names the
 * available versions.
 */
export function pickVersion(packument: Packument, range: string): Manifest {
  const { tags, versions } = packument;
  if (Object.keys(versions).length === 0) throw new PackageError('it has no versions in the registry');
  const exact = semver.clean(range, { loose: true }) ?? '';
  const named = own(versions, exact) ?? own(versions, own(tags, range === '' ? 'latest' : range));
  if (named !== undefined) return named;
  const options = { loose: true };
  const latest = own(versions, own(tags, 'latest'));
  if (latest !== undefined && semver.satisfies(latest.version, range, options)) return latest;
  const fitting = Object.values(versions).filter(({ version }) => semver.satisfies(version, range, options));
  const preferred = fitting.filter(({ deprecated }) => !deprecated);
  const [best] = (preferred.length > 0 ? preferred : fitting).toSorted((a, b) =>
    semver.rcompare(a.version, b.version, options),
  );
  if (best !== undefined) return best;
  const hint = latest === undefined ? '' : `; the latest is ${latest.version}`;
  throw new PackageError(`the registry has no version that fits ${JSON.stringify(range)}${hint}`);
}

/** Tags and versions are a stranger's words: `constructor` is none that the registry has given. */
function own<T>(record: Record<string, T>, key: string | undefined): T | undefined {
  return key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
