/** Thrown for what is wrong with a package, in words that follow `Cannot resolve "name": `. */
export class PackageError extends Error {
  override readonly name: string = 'PackageError';
}
