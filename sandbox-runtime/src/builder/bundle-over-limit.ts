import type { ExceededLimit, FieldError } from '@headwater/shared';

/** Errors for a component whose bundle exceeds `maxBundleBytes`. */
export interface BundleOverLimit {
  errors: FieldError[];
  limit: ExceededLimit;
}

/** Undefined if the bundle is within the limit. `file`: the author's file. */
export function bundleOverLimit(bytes: number, maxBundleBytes: number, file?: string): BundleOverLimit | undefined {
  if (bytes <= maxBundleBytes) return undefined;
  const message = `The component is ${bytes} bytes when it is bundled; the limit maxBundleBytes is ${maxBundleBytes} bytes`;
  return {
    errors: [{ path: 'component_code', message, ...(file === undefined ? {} : { file }) }],
    limit: { name: 'maxBundleBytes', value: maxBundleBytes, used: bytes },
  };
}
