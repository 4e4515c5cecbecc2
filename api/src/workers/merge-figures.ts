import type { WorkerFigures } from './messages.ts';

/**
 * One text of those of all workers. Each sample gets its worker as a label, so that a sum over the
 * workers counts nothing twice, and a worker that starts again is a series that starts again.
 * Families in `ofMachine` are the same for all, and come once, without a label.
 */
export function mergeFigures(all: readonly WorkerFigures[], ofMachine: ReadonlySet<string>): string {
  const families = new Map<string, { head: string[]; samples: string[] }>();
  for (const { worker, text } of all) {
    const known = new Set(families.keys());
    let name = '';
    for (const line of text.split('\n')) {
      const [, word, subject = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (word !== undefined) name = subject;
      const family = families.get(name) ?? { head: [], samples: [] };
      families.set(name, family);
      if (word !== undefined) {
        if (!known.has(name)) family.head.push(line);
      } else if (line !== '' && !line.startsWith('#') && !(ofMachine.has(name) && known.has(name))) {
        family.samples.push(ofMachine.has(name) ? line : withLabel(line, worker));
      }
    }
  }
  return [...families.values()].flatMap(({ head, samples }) => [...head, ...samples, '']).join('\n');
}

/** `name{a="b"} 1` or `name 1`. */
function withLabel(sample: string, worker: number): string {
  const [, name = '', labels] = /^([a-zA-Z0-9_:]+)(\{)?/.exec(sample) ?? [];
  const rest = sample.slice(name.length + (labels === undefined ? 0 : 1));
  return labels === undefined ? `${name}{worker="${worker}"}${rest}` : `${name}{worker="${worker}",${rest}`;
}
