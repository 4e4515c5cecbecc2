import { globSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

const CONFIG = resolve(import.meta.dirname, '../../.dependency-cruiser.mjs');
const FOLDERS = ['shared', 'sandbox-runtime', 'engine', 'api', 'cli', 'web', 'bench', 'compat', 'test'];

/**
 * A tree without one import between its own files is not this project: the reader must have failed.
 */
const MIN_EDGES = 3;

/**
 * Reads every TypeScript file of the working directory's workspaces and answers what breaks the
 * rules of `.dependency-cruiser.mjs`, one line each. A graph that lacks files or edges is a
 * violation as well: a parser that cannot read TypeScript finds nothing to complain about.
 */
async function checkRules(): Promise<{ files: number; edges: number; problems: string[] }> {
  const files = globSync(
    FOLDERS.map((folder) => `${folder}/**/*.ts`),
    { exclude: ['**/node_modules/**'] },
  );
  const { ruleSet, validate, enhancedResolveOptions, ...options } = await extractDepcruiseOptions(CONFIG);
  const { output } = await cruise(
    files,
    { ...options, ...(ruleSet === undefined ? {} : { ruleSet }), validate: validate === true },
    enhancedResolveOptions,
  );
  if (typeof output === 'string') throw new Error('dependency-cruiser answered text where a graph was asked for');
  const edges = countOwnEdges(output, new Set(files));
  const problems = [
    ...findHoles(output, files, edges),
    ...listViolations(output),
    ...files.flatMap(findStyleFaults),
    ...findNamesakes(files),
  ];
  return { files: files.length, edges, problems };
}

function countOwnEdges(graph: ICruiseResult, files: ReadonlySet<string>): number {
  const own = graph.modules.filter((module) => files.has(module.source));
  return own.flatMap((module) => module.dependencies).filter((edge) => files.has(edge.resolved)).length;
}

/**
 * Imports that the graph misses. Without @swc/core, dependency-cruiser cannot read TypeScript and
 * still returns a guessed graph. So every import at the start of a line must be in it.
 */
function findHoles(graph: ICruiseResult, files: readonly string[], edges: number): string[] {
  const modules = new Map(graph.modules.map((module) => [module.source, module]));
  const holes = files.flatMap((file) => {
    const seen = new Set(modules.get(file)?.dependencies.map((edge) => edge.module));
    return listOwnImports(file)
      .filter((specifier) => !seen.has(specifier))
      .map((specifier) => `unread: ${file} imports ${specifier}, and the graph does not know; is @swc/core installed?`);
  });
  if (edges < MIN_EDGES) holes.push(`unread: ${files.length} files, but ${edges} imports between them`);
  return holes;
}

function listOwnImports(file: string): string[] {
  const matches = readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}).* from '((?:\.|@headwater\/)[^']*)';$/gm);
  return [...matches].flatMap(([, specifier]) => specifier ?? []);
}

function listViolations(graph: ICruiseResult): string[] {
  return graph.summary.violations.map((violation) => {
    const cycle = violation.cycle?.map((step) => step.name) ?? [];
    const path = cycle.length > 0 ? [violation.from, ...cycle] : [violation.from, violation.to];
    return `${violation.rule.name}: ${path.join(' -> ')}`;
  });
}

/** Packages whose exported functions and constants are found by their name alone. */
const SEARCHABLE = /^(?:shared|sandbox-runtime|engine|api|cli|client)\/src\/.*(?<!\.d)\.ts$/;
const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class) ([\w$]+)/gm;

/** Exported functions, constants and classes that two files call by the same name. */
function findNamesakes(files: readonly string[]): string[] {
  const exported = files
    .filter((file) => SEARCHABLE.test(file))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(EXPORTED)].map(([, name = '']): [string, string] => [name, file]),
    );
  const places = Map.groupBy(exported, ([name]) => name);
  return [...places].flatMap(([name, found]) => {
    const where = [...new Set(found.map(([, file]) => file))];
    return where.length < 2 ? [] : [`namesakes: ${name} is exported by ${where.join(' and ')}`];
  });
}

/** Two rules of CONTRIBUTING.md that are about one file and that no linter here has. */
function findStyleFaults(file: string): string[] {
  const faults: string[] = [];
  if (/(^|-)(utils|helpers?|managers?|services?)\.ts$/.test(basename(file))) {
    faults.push(`say-what-it-is: ${file} has a name that says nothing about what is in it`);
  }
  if (/^export \*/m.test(readFileSync(file, 'utf8')))
    faults.push(`no-export-star: ${file} does not name what it exports`);
  return faults;
}

const { files, edges, problems } = await checkRules();
for (const problem of problems) console.log(problem);
console.log(`${files} files, ${edges} imports between them, ${problems.length} violations`);
if (problems.length > 0) process.exitCode = 1;
