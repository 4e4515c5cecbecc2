// oxlint-disable-next-line typescript/no-explicit-any -- the one place where tests give up types
export type Json = any;
