/** A number that JavaScript cannot hold without changing it; shown and copied as it was written. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** Keeps all digits in a request. A browser without `JSON.rawJSON` rounds it, as any number. */
  toJSON(): unknown {
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    return rawJSON === undefined ? Number(this.source) : rawJSON(this.source);
  }
}

/** As JSON.parse, but no number loses digits: ids of 19 digits are common in payloads. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, ((_: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined || source.length < 16) return value;
    return sameDigits(value, source) ? value : new ExactNumber(source);
  }) as (key: string, value: unknown) => unknown);
}

function sameDigits(value: number, source: string): boolean {
  return (
    String(value) === source ||
    Number(source)
      .toPrecision(17)
      .replace(/\.?0+$/, '') === source
  );
}

/** JSON text of a value from parseExact, with numbers as they were written. */
export function writeExact(value: unknown, indent = 2): string {
  const numbers = new Map<string, string>();
  const text = JSON.stringify(
    value,
    function (this: Record<string, unknown>, key, shown: unknown) {
      // `shown` is the answer of `toJSON` already.
      const part = this[key];
      if (!(part instanceof ExactNumber)) return shown;
      const mark = `\u0000${numbers.size}\u0000`;
      numbers.set(JSON.stringify(mark), part.source);
      return mark;
    },
    indent,
  );
  let written = text ?? 'undefined';
  for (const [mark, source] of numbers) written = written.replace(mark, source);
  return written;
}
