import { blobBytes, GuestBlob, GuestFile, joinBytes } from './blob.ts';
import { theBridge } from './bridge-slot.ts';
import { applyFunction } from './intrinsics.ts';
import { pairIterators } from './pair-iterator.ts';
import { encodeUtf8 } from './utf8.ts';
import { asInterface, requireArguments, toUsv } from './web-idl.ts';

type FormValue = string | GuestFile;

const iterate = pairIterators<FormValue>('FormData');

/** `FormData` without a form: a list of names and values. */
export class GuestFormData {
  #entries: [string, FormValue][] = [];

  constructor(form?: unknown) {
    if (form !== undefined) throw new TypeError('FormData takes no form element here: there are no documents');
  }

  append(name: string, value: unknown, fileName?: string): void {
    requireArguments(2, arguments.length, 'FormData.append');
    this.#entries.push(readEntry(name, value, arguments.length > 2 && fileName !== undefined ? [fileName] : []));
  }

  set(name: string, value: unknown, fileName?: string): void {
    requireArguments(2, arguments.length, 'FormData.set');
    const entry = readEntry(name, value, arguments.length > 2 && fileName !== undefined ? [fileName] : []);
    const at = this.#entries.findIndex(([other]) => other === entry[0]);
    if (at < 0) this.#entries.push(entry);
    else {
      this.#entries[at] = entry;
      this.#entries = this.#entries.filter(([other], index) => index <= at || other !== entry[0]);
    }
  }

  get(name: string): FormValue | null {
    requireArguments(1, arguments.length, 'FormData.get');
    const key = toUsv(name);
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null;
  }

  getAll(name: string): FormValue[] {
    requireArguments(1, arguments.length, 'FormData.getAll');
    const key = toUsv(name);
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
  }

  has(name: string): boolean {
    requireArguments(1, arguments.length, 'FormData.has');
    const key = toUsv(name);
    return this.#entries.some((entry) => entry[0] === key);
  }

  delete(name: string): void {
    requireArguments(1, arguments.length, 'FormData.delete');
    const key = toUsv(name);
    this.#entries = this.#entries.filter((entry) => entry[0] !== key);
  }

  forEach(callback: (value: FormValue, name: string, form: GuestFormData) => void, thisArg?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('forEach takes a function');
    for (const [name, value] of this.entries()) applyFunction(callback, thisArg, [value, name, this]);
  }

  entries(): IterableIterator<[string, FormValue]> {
    return iterate(() => this.#entries, 'entries');
  }

  keys(): IterableIterator<string> {
    return iterate(() => this.#entries, 'keys');
  }

  values(): IterableIterator<FormValue> {
    return iterate(() => this.#entries, 'values');
  }

  declare [Symbol.iterator]: () => IterableIterator<[string, FormValue]>;
}
asInterface(GuestFormData, 'FormData');
Object.defineProperty(GuestFormData.prototype, Symbol.iterator, {
  value: GuestFormData.prototype.entries,
  writable: true,
  configurable: true,
});

function readEntry(name: unknown, value: unknown, fileName: [] | [unknown]): [string, FormValue] {
  const key = toUsv(name);
  if (!(value instanceof GuestBlob)) {
    if (fileName.length > 0) throw new TypeError('A file name needs a Blob, and the value is not one');
    return [key, toUsv(value)];
  }
  if (fileName.length === 0 && value instanceof GuestFile) return [key, value];
  const options = { type: value.type, ...(value instanceof GuestFile ? { lastModified: value.lastModified } : {}) };
  return [key, new GuestFile([value], fileName.length > 0 ? toUsv(fileName[0]) : 'blob', options)];
}

/** multipart/form-data as in RFC 7578, names and file names escaped as browsers do. */
export function encodeForm(form: GuestFormData, boundary: string): Uint8Array<ArrayBuffer> {
  const bridge = theBridge();
  const chunks: Uint8Array[] = [];
  const text = (line: string): void => void chunks.push(encodeUtf8(bridge, line));
  for (const [name, value] of form.entries()) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalise(name))}"`;
    if (typeof value === 'string') text(`${head}\r\n\r\n${normalise(value)}\r\n`);
    else {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      text(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
      chunks.push(blobBytes(value));
      text('\r\n');
    }
  }
  text(`--${boundary}--\r\n`);
  return joinBytes(chunks);
}

function normalise(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n');
}

function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
