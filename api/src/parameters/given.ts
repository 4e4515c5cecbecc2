import type { PageRequest } from '@headwater/engine';

type Given<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> } & {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
};

/** Drops undefined fields: optional fields of the contract are absent, never undefined. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}

/** The paging part of checked parameters. An empty cursor is none. */
export function pageOf(input: { limit: number; after?: string | undefined; before?: string | undefined }): PageRequest {
  return given({ limit: input.limit, after: input.after || undefined, before: input.before || undefined });
}
