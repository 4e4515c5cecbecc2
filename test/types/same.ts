// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two signatures are the same only where A and B are
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `same<string>()(value)` compiles only where the type of `value` is exactly `string`. */
export declare function same<Expected>(): <Actual>(
  value: Actual,
  ...wrong: Same<Expected, Actual> extends true ? [] : [expected: Expected]
) => void;
