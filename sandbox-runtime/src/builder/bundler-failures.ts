import type { Message } from 'esbuild';

/** Message for a file of this machine. Only an import by a pattern can reach one. */
export const FILE_FOUND = 'Files cannot be imported';
/** A directory is there and has none, is not there, is not to be read, or has some. */
const OF_PATTERN =
  /^(?:The glob pattern (?:import|require)\(|Could not resolve (?:import|require)\(|Cannot read directory )/;
const NO_PATTERNS = 'Cannot resolve an import by a pattern, such as import(`./${name}.js`): each file has to be named';

/**
 * Imports by a pattern, of which the bundler asks no plugin. Whether files of this machine fit one
 * cannot be told from the answer.
 */
export function isOfPattern({ text }: Message): boolean {
  return text === FILE_FOUND || OF_PATTERN.test(text);
}

/** For a build that went through: throws where the bundler has looked for files by a pattern. */
export function requireNoPatterns({ warnings }: { warnings: Message[] }): void {
  const ofPattern = warnings.filter(isOfPattern);
  if (ofPattern.length > 0) throw Object.assign(new Error(NO_PATTERNS), { errors: ofPattern });
}

/** Errors of a failed build in the bundler's own words. Throws like `readFailures`. */
export function rawFailures(error: unknown): Message[] {
  const messages = (error as { errors?: Message[] } | undefined)?.errors;
  if (!Array.isArray(messages)) throw error;
  const isGone = messages.some(({ text }) => /^The service (was stopped|is no longer running)/.test(text));
  if (isGone) throw new Error('The bundler broke down', { cause: error });
  return messages;
}

/**
 * Errors that the bundler found in the code. Throws anything else: a defect of Headwater, or a
 * crash of the bundler program, which then answers no more.
 */
export function readFailures(error: unknown): Message[] {
  return closePatterns(rawFailures(error));
}

/** Takes out of the messages what they say of files on this machine. */
export function closePatterns(messages: Message[]): Message[] {
  const [ofPattern] = messages.filter(isOfPattern);
  if (ofPattern === undefined) return messages;
  return [
    ...messages.filter((message) => !isOfPattern(message)),
    { ...ofPattern, text: NO_PATTERNS, location: null, notes: [] },
  ];
}
