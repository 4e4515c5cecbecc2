import { globSync, readFileSync } from 'node:fs';

/*
 * Four rules for prose. Lines have at most 100 columns: paragraphs and lists of markdown, and
 * comments that stand alone; tables, code, generated pages and unbreakable words may be longer. A
 * comment and the title of a test name their subject: they do not begin with Of, What, Who, Where
 * or That. A title has at most 25 words, and no pronoun in the place of a thing. No file has the
 * marks of a merge conflict, also as the formatter spaces them.
 */

const MAX_COLUMNS = 100;
const GENERATED = new Set(['docs/attacks.md', 'docs/conformance.md', 'client/src/schema.d.ts']);
/** Folders of what is installed or made. */
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.headwater', '.turbo']);
const COMMENT = /^\s*(?:\/\/|\/\*|\*(?:\s|$))/;
const DIRECTIVE = /^\s*(?:\/\/|\/\*)\s*(?:oxlint|biome|@ts-|knip)/;

function longLinesOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const isLong = file.endsWith('.md') ? longProse() : isLongComment;
  return lines.flatMap((line, at) => (isLong(line) ? [`${file}:${at + 1}`] : []));
}

function longProse(): (line: string) => boolean {
  let isCode = false;
  return (line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return !isCode && !/^\s*[|<[#!]/.test(line) && isTooLong(line);
  };
}

function isLongComment(line: string): boolean {
  return COMMENT.test(line) && !DIRECTIVE.test(line) && isTooLong(line);
}

const OPENER = /^(?:Of|What|Who|Whoever|Whose|Where|That|Whatever)\b/;
const LINE_COMMENT = /^\s*\/\/\s*/;
/** The comment above an attack begins with its layer. */
const LAYER = /^[a-z]+: /;
const BLOCK_COMMENT = /^\s*\/\*\*?\s*/;

/** Comments that begin with a word that leaves their subject to the code below. */
function openersOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const begins = (line: string, at: number) => {
    if (BLOCK_COMMENT.test(line))
      return line.replace(BLOCK_COMMENT, '') || (lines[at + 1] ?? '').replace(/^\s*\*\s*/, '');
    if (LINE_COMMENT.test(line) && !LINE_COMMENT.test(lines[at - 1] ?? ''))
      return line.replace(LINE_COMMENT, '').replace(LAYER, '');
    return / \/\/ (.+)$/.exec(line)?.[1] ?? '';
  };
  return lines.flatMap((line, at) => (OPENER.test(begins(line, at)) ? [`${file}:${at + 1}`] : []));
}

const MAX_TITLE_WORDS = 25;
const PRONOUN = /\b(?:(?:who|what)ever|(?:some|every|any|no)(?:body|one))\b/i;
/** The title in a call of `it`, `test` or `describe`, also behind `.each(…)` and `.runIf(…)`. */
const TITLE =
  /(?:(?<![\w.])(?:it|test|describe)(?:\.\w+)*\(\s*|(?<![\w.])(?:it|test|describe)\.\w+\(.*\)\(\s*|^ *[\])]+\(\s*)(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm;

/** Titles of tests that are not plain sentences about a named thing. */
function titlesOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(TITLE)].flatMap((found) => {
    const title = found[1] ?? found[2] ?? found[3] ?? '';
    const isPlain = !OPENER.test(title.charAt(0).toUpperCase() + title.slice(1)) && !PRONOUN.test(title);
    const isShort = title.split(/\s+/).length <= MAX_TITLE_WORDS;
    const line = text.slice(0, found.index + found[0].length).split('\n').length;
    return isPlain && isShort ? [] : [`${file}:${line} "${title}"`];
  });
}

const CONFLICT = /^(?:<{7} |(?:> ?){7})/;

function conflictsOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, at) => (CONFLICT.test(line) ? [`${file}:${at + 1}`] : []));
}

/** A word alone, such as a URL, may be longer, and so may a row of a table. */
function isTooLong(line: string): boolean {
  return line.length > MAX_COLUMNS && line.trim().split(/\s+/).length > 3 && !/\S {2,}\S/.test(line);
}

const files = globSync('**/*.{md,ts,tsx,mjs}', { exclude: (name) => SKIPPED.has(name) })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !GENERATED.has(file));
const long = files.flatMap(longLinesOf);
const unclear = files.filter((file) => !file.endsWith('.md')).flatMap(openersOf);
const conflicts = files.flatMap(conflictsOf);
const titles = files.filter((file) => file.endsWith('.test.ts')).flatMap(titlesOf);
for (const line of long) console.error(`${line} has prose beyond column ${MAX_COLUMNS}`);
for (const line of conflicts) console.error(`${line} has the mark of a merge conflict`);
for (const line of unclear) console.error(`${line} has a comment that does not name its subject`);
for (const title of titles)
  console.error(
    `${title} is no plain title: name the subject, at most ${MAX_TITLE_WORDS} words, no pronoun for a thing`,
  );
console.log(
  `${files.length} files, ${long.length} long lines of prose, ${unclear.length} comments and ${titles.length} titles without a subject`,
);
process.exitCode = long.length + unclear.length + conflicts.length + titles.length === 0 && files.length > 0 ? 0 : 1;
