const SEMVER =
  /^(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})(?:-((?:[0-9A-Za-z-]+)(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const MAX_VERSION_CHARS = 128;

/** Whether a version is one of Semantic Versioning 2.0.0, without a `v` before it. */
export function isSemver(version: string): boolean {
  if (version.length > MAX_VERSION_CHARS) return false;
  const match = SEMVER.exec(version);
  return match !== null && (match[4] ?? '').split('.').every(isIdentifier);
}

/**
 * Whether `version` comes after `other` in the order of Semantic Versioning; both are known to be
 * versions of it.
 */
export function isLater(version: string, other: string): boolean {
  return compare(partsOf(version), partsOf(other)) > 0;
}

type Part = number | string;

// Item 9: no leading zeros in numbers.
function isIdentifier(text: string): boolean {
  return !/^0\d+$/.test(text);
}

function partsOf(version: string): { release: Part[]; pre: Part[] } {
  const [, major, minor, patch, pre] = SEMVER.exec(version) ?? [];
  const release = [major, minor, patch].map(Number);
  return {
    release,
    pre: pre === undefined ? [] : pre.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

// Item 11: a release comes after its pre-releases; numbers before words; of two alike the longer
// one.
function compare(a: { release: Part[]; pre: Part[] }, b: { release: Part[]; pre: Part[] }): number {
  const byRelease = compareLists(a.release, b.release);
  if (byRelease !== 0) return byRelease;
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  return compareLists(a.pre, b.pre);
}

function compareLists(a: readonly Part[], b: readonly Part[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [a[at] as Part, b[at] as Part];
    if (left === right) continue;
    if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
