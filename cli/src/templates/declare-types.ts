import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** First words of the file. A file that begins differently is left alone. */
export const TYPES_MARK = "// The types of '@headwater/types', written by `hw init`";

const INDEX = 'index.d.ts';

/** Folder of the types package, next to this one. It is read as text, never imported. */
const FOLDER = fileURLToPath(new URL('../../../types/src', import.meta.url));

export function hasTypes(): boolean {
  return existsSync(path.join(FOLDER, INDEX));
}

/**
 * The package `@headwater/types` as one file, for editors and compilers of users that have not
 * installed it. A server does not need it.
 */
export async function declareTypes(): Promise<string> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.d.ts') && name !== INDEX).toSorted();
  const read = (name: string) => readFile(path.join(FOLDER, name), 'utf8');
  const index = await read(INDEX);
  const isPublic = new Set(publicNames(index));
  const parts = [index, ...(await Promise.all(names.map(read)))].map((text) => partOf(text, isPublic));
  const head = `${TYPES_MARK} for your editor and \`tsc\`.\n// Not to be changed: \`hw init types\` writes it again, as your hw has it.`;
  // Without the empty export everything in it would be exported.
  return `${head}\n\ndeclare module '@headwater/types' {\n${indent(parts.join('\n\n'))}\n\n  export {};\n}\n`;
}

/** Exported names of the package: its own, and those of its other files. */
function publicNames(index: string): string[] {
  const own = index.matchAll(/^export declare \w+ (\w+)/gm);
  const others = index.matchAll(/^export type \{([^}]*)\} from/gms);
  return [
    ...[...own].map(([, name = '']) => name),
    ...[...others].flatMap(([, names = '']) => names.match(/\w+/g) ?? []),
  ];
}

/** All files become one: drops imports, and exports that only the other files need. */
function partOf(text: string, isPublic: ReadonlySet<string>): string {
  return text
    .replaceAll(/^(?:import|export) type \{[^}]*\} from '[^']*';\n/gms, '')
    .replaceAll(/^(?:export )?(?:declare )?(?=(?:type|interface|const|class) (\w+))/gm, (_, name: string) =>
      isPublic.has(name) ? 'export ' : '',
    )
    .trim();
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
