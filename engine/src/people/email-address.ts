/** Mail servers that tell upper from lower case are not known, and people do not. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
