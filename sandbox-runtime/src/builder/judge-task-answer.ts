import { type FieldError, LIMITS } from '@headwater/shared';
import type { PlainAnswer, TreeAnswer } from './bundle-task.ts';
import type { MissingFile } from './list-missing-files.ts';
import type { FetchAnswer } from './packages/build-order.ts';
import { MAX_SPECIFIER_CHARS } from './specifier.ts';

/*
 * Validates answers of build processes before other code of the node reads them. These processes
 * handle untrusted code and packages. An answer of another form counts as a crash of the process.
 * The frame bounds its length.
 */

/** Names that one import may stand for: more than there are kinds of files. */
const MAX_CANDIDATES = 32;
/** Limits that such a process keeps code to by itself. */
const BUILD_LIMIT_NAMES = new Set<unknown>([
  'maxBundleBytes',
  'maxComponentCodeBytes',
  'maxPackagesPerBuild',
  'maxPackageDownloadBytes',
]);
/** Many more than the bundler says of one component. */
const MAX_ERRORS = 1_000;

export function isPlainAnswer(answer: unknown): answer is PlainAnswer {
  if (!isObject(answer)) return false;
  switch (answer['kind']) {
    case 'bundled':
      return isStorable(answer['sourceMap']);
    case 'failed':
      return areErrors(answer['errors']) && isBuildLimit(answer['limit']);
    case 'needs-packages': {
      const { packages, entryLoader } = answer;
      return arePackages(packages) && (entryLoader === 'js' || entryLoader === 'ts');
    }
    default:
      return false;
  }
}

export function areMissingFiles(answer: unknown): answer is MissingFile[] {
  return Array.isArray(answer) && answer.length <= LIMITS.maxComponentFiles + 1 && answer.every(isMissingFile);
}

export function isFetchAnswer(answer: unknown): answer is FetchAnswer {
  if (!isObject(answer)) return false;
  const { ok, bytes, reason, limit, mayPass } = answer;
  if (!Number.isSafeInteger(bytes) || Number(bytes) < 0) return false;
  return ok === true || (ok === false && isText(reason) && isBuildLimit(limit) && isFlag(mayPass));
}

export function isTreeAnswer(answer: unknown): answer is TreeAnswer {
  if (!isObject(answer)) return false;
  const { ok, errors, limit, isLost } = answer;
  if (ok === false) return areErrors(errors) && isBuildLimit(limit) && isFlag(isLost);
  return ok === true && isStorable(answer['sourceMap']) && areDependencies(answer['dependencies']);
}

function isMissingFile(file: unknown): boolean {
  if (!isObject(file)) return false;
  const { path, importer, candidates } = file;
  return isText(path) && isText(importer) && areTexts(candidates) && candidates.length <= MAX_CANDIDATES;
}

function areErrors(errors: unknown): errors is FieldError[] {
  return Array.isArray(errors) && errors.length > 0 && errors.length <= MAX_ERRORS && errors.every(isFieldError);
}

function isFieldError(error: unknown): boolean {
  if (!isObject(error)) return false;
  const { path, message, file, line, column } = error;
  const isPlace = [line, column].every((place) => place === undefined || Number.isSafeInteger(place));
  return isText(path) && isText(message) && (file === undefined || isText(file)) && isPlace;
}

function isBuildLimit(limit: unknown): boolean {
  if (limit === undefined) return true;
  return (
    isObject(limit) &&
    BUILD_LIMIT_NAMES.has(limit['name']) &&
    [limit['value'], limit['used']].every(Number.isSafeInteger)
  );
}

/** Names and versions, which are stored with the component. */
function areDependencies(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= LIMITS.maxPackagesPerBuild && entries.flat().every(isStorable);
}

/** Each is read as a specifier, on the node's thread. */
function arePackages(value: unknown): boolean {
  const isSpecifier = (text: string): boolean => text.length <= MAX_SPECIFIER_CHARS;
  return areTexts(value) && value.length > 0 && value.length <= LIMITS.maxPackagesPerBuild && value.every(isSpecifier);
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

/** The database takes no NUL. */
function isStorable(value: unknown): value is string {
  return isText(value) && !value.includes('\0');
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
