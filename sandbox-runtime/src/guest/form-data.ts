import type { BlobClasses, BlobLike } from './blob.ts';
import { joinBytes } from './blob.ts';
import type { Bridge } from './bridge.ts';
import { toText } from './intrinsics.ts';
import { encodeUtf8 } from './utf8.ts';

type FormValue = string | (BlobLike & { name?: string });

/** `FormData` as a container; `encodeForm` makes a multipart body of it. */
export class GuestFormData {
  readonly #entries: [string, FormValue, string | undefined][] = [];

  append(name: string, value: unknown, fileName?: string): void {
    this.#entries.push([toText(name), formValue(value), fileName]);
  }

  set(name: string, value: unknown, fileName?: string): void {
    this.delete(name);
    this.append(name, value, fileName);
  }

  get(name: string): FormValue | null {
    return this.#entries.find((entry) => entry[0] === name)?.[1] ?? null;
  }

  getAll(name: string): FormValue[] {
    return this.#entries.filter((entry) => entry[0] === name).map((entry) => entry[1]);
  }

  has(name: string): boolean {
    return this.#entries.some((entry) => entry[0] === name);
  }

  delete(name: string): void {
    for (let i = this.#entries.length - 1; i >= 0; i--) if (this.#entries[i]?.[0] === name) this.#entries.splice(i, 1);
  }

  forEach(callback: (value: FormValue, name: string, form: GuestFormData) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  *entries(): IterableIterator<[string, FormValue]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#entries) yield name;
  }

  *values(): IterableIterator<FormValue> {
    for (const [, value] of this.#entries) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, FormValue]> {
    return this.entries();
  }

  fileNameOf(name: string, index: number): string | undefined {
    return this.#entries.filter((entry) => entry[0] === name)[index]?.[2];
  }
}

function formValue(value: unknown): FormValue {
  return typeof value === 'object' && value !== null && 'arrayBuffer' in value ? (value as BlobLike) : toText(value);
}

/** multipart/form-data as in RFC 7578, names and file names escaped as browsers do. */
export function encodeForm(
  bridge: Bridge,
  blobs: BlobClasses,
  form: GuestFormData,
  boundary: string,
): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  const text = (line: string): void => void chunks.push(encodeUtf8(bridge, line));
  for (const [name, value] of form) {
    text(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`);
    const bytes = blobs.bytesOf(value);
    if (typeof value === 'string' || bytes === undefined) text(`\r\n\r\n${toText(value)}\r\n`);
    else {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      text(
        `; filename="${escapeName(form.fileNameOf(name, 0) ?? value.name ?? 'blob')}"\r\nContent-Type: ${type}\r\n\r\n`,
      );
      chunks.push(bytes);
      text('\r\n');
    }
  }
  text(`--${boundary}--\r\n`);
  return joinBytes(chunks);
}

function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
