/**
 * Log interface of this package; a pino logger fits. Fields come first, then a sentence without
 * variable parts.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
