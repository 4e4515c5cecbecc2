import { SourceMap, type SourceMapPayload } from 'node:module';

const MAX_LINES = 30;
const MAX_LINE_CHARS = 1_000;
/** `    at run (hw:component:12:9)`, `    at async hw:component:3:1`. */
const FRAME = /^ {4}at (.{0,500}?) ?\(?hw:component:(\d{1,9}):(\d{1,9})\)?$/;

export interface SourcePlace {
  file: string;
  line: number;
  /** 0-based. */
  column: number;
}

/** The author's frames of a stack, each led back to the file as it was saved. Frames of anything else are left out. */
export class StackMapper {
  readonly #map: SourceMap | undefined;

  /** A map that cannot be read maps nothing: the message of an error is worth more than its place. */
  constructor(sourceMap: string) {
    this.#map = readMap(sourceMap);
  }

  /** Undefined when no frame is the author's. */
  map(stack: string): string | undefined {
    const frames = this.#frames(stack).map(({ name, place }) => {
      const at = `${place.file}:${place.line}:${place.column + 1}`;
      return name === '' ? `    at ${at}` : `    at ${name} (${at})`;
    });
    return frames.length === 0 ? undefined : frames.join('\n');
  }

  /** Where the topmost frame of the author is. */
  place(stack: string): SourcePlace | undefined {
    return this.#frames(stack)[0]?.place;
  }

  #frames(stack: string): { name: string; place: SourcePlace }[] {
    const frames: { name: string; place: SourcePlace }[] = [];
    for (const line of stack.split('\n', MAX_LINES)) {
      const match = line.length > MAX_LINE_CHARS ? null : FRAME.exec(line);
      const place = match === null ? undefined : this.#place(Number(match[2]), Number(match[3]));
      if (place !== undefined) frames.push({ name: match?.[1] ?? '', place });
    }
    return frames;
  }

  #place(line: number, column: number): SourcePlace | undefined {
    const entry = this.#map?.findEntry(line - 1, column - 1);
    // An entry without a source is code of a package.
    if (entry === undefined || !('originalSource' in entry) || typeof entry.originalSource !== 'string')
      return undefined;
    return { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn };
  }
}

function readMap(sourceMap: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(sourceMap) as SourceMapPayload);
  } catch {
    // See the constructor.
    return undefined;
  }
}
