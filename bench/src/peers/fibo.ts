/**
 * Work of each step, the same in every system. Headwater gets its source text, from which Node
 * strips the types.
 */
export function fibo(n: number): number {
  return n < 2 ? n : fibo(n - 1) + fibo(n - 2);
}
