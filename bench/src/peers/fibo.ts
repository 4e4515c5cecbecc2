/**
 * What each step computes, in every system: ours is given its source, in which Node has blanked the
 * types.
 */
export function fibo(n: number): number {
  return n < 2 ? n : fibo(n - 1) + fibo(n - 2);
}
