const MAX_SUGGESTIONS = 3;

/** Comparison takes quadratic time in the length, and no real name is longer. */
const MAX_COMPARED_CHARS = 128;

/** The candidates most similar to a mistyped `word`, the likeliest first. */
export function nearest(word: string, candidates: readonly string[]): string[] {
  if (word.length > MAX_COMPARED_CHARS) return [];
  const wanted = word.toLowerCase();
  const compared = candidates.filter(({ length }) => length <= MAX_COMPARED_CHARS);
  const near = [...new Set(compared)].flatMap((candidate) => {
    const name = candidate.toLowerCase();
    const distance = name.includes(wanted) && wanted.length > 1 ? 0 : editDistance(wanted, name);
    return distance <= Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3))
      ? [{ candidate, distance }]
      : [];
  });
  return near
    .toSorted((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

/** Number of names shown if none is similar to the given word. */
const MAX_SHOWN = 8;

/**
 * `did you mean …?` for a name that is not among `candidates`: one that is near, or else those that
 * there are.
 */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const [near] = nearest(word, candidates);
  if (near !== undefined) return `did you mean ${near}?`;
  const shown = candidates.slice(0, MAX_SHOWN);
  if (shown.length <= 1) return shown.length === 0 ? 'there are none' : `did you mean ${shown[0]}?`;
  return `did you mean one of ${shown.join(', ')}${shown.length < candidates.length ? ' …' : ''}?`;
}

/** Letters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [row, char] of Array.from(a).entries()) {
    const next = [row + 1];
    for (const [at, other] of Array.from(b).entries()) {
      const replaced = (previous[at] ?? 0) + (char === other ? 0 : 1);
      next.push(Math.min(replaced, (previous[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    previous = next;
  }
  return previous[b.length] ?? 0;
}
