import type { ExceededLimit, FieldError } from '@headwater/shared';

/** What is wrong with a component that is larger than `maxBundleBytes` when it is bundled. */
export interface BundleOverLimit {
  errors: FieldError[];
  limit: ExceededLimit;
}

/** Undefined where it is not. `file`: the author's. */
export function bundleOverLimit(bytes: number, maxBundleBytes: number, file?: string): BundleOverLimit | undefined {
  if (bytes <= maxBundleBytes) return undefined;
  const message = `The component is ${bytes} bytes when it is bundled; the limit maxBundleBytes is ${maxBundleBytes} bytes`;
  return {
    errors: [{ path: 'component_code', message, ...(file === undefined ? {} : { file }) }],
    limit: { name: 'maxBundleBytes', value: maxBundleBytes, used: bytes },
  };
}
