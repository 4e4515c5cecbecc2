import type { Message } from 'esbuild';

/**
 * What the bundler found wrong with the code. Throws what is no finding: a defect of ours, or that the bundler's program broke
 * down over the code, after which it answers nobody any more.
 */
export function readFailures(error: unknown): Message[] {
  const messages = (error as { errors?: Message[] } | undefined)?.errors;
  if (!Array.isArray(messages)) throw error;
  const isGone = messages.some(({ text }) => /^The service (was stopped|is no longer running)/.test(text));
  if (isGone) throw new Error('The bundler broke down', { cause: error });
  return messages;
}
