import { type ExceededLimit, LIMITS, platformLimit } from '@headwater/shared';
import { type Read, readPayload } from '../read-payload.ts';

export interface EmailMessage {
  subject: string;
  text?: string;
  html?: string;
}

/** One line, without what could begin a header of its own. */
const SUBJECT = /^[^\p{Cc}\u2028\u2029]*$/u;

/**
 * The e-mail that a payload of `$.send.email` asks for: `subject`, and `text` or `html` or both.
 * Strings alone: the mail library reads files for objects.
 */
export async function readEmail(json: string): Promise<Read<EmailMessage>> {
  const read = await readPayload(json, { parsed: ['subject'], raw: ['text', 'html'] });
  if (!read.ok) return read;
  const { subject } = read.value;
  if (typeof subject !== 'string' || subject.trim() === '') return wrong('subject must be a string, and not empty');
  if (subject.length > LIMITS.maxEmailSubjectChars) {
    const limit = platformLimit('maxEmailSubjectChars', subject.length);
    return wrong(`subject must have at most ${limit.value} characters`, limit);
  }
  if (!SUBJECT.test(subject)) return wrong('subject must not hold line breaks or control characters');
  const texts = [read.value.text, read.value.html];
  if (texts.every((one) => one === undefined)) return wrong('text or html must be given');
  for (const [name, one] of Object.entries({ text: read.value.text, html: read.value.html })) {
    if (one !== undefined && !one.startsWith('"')) return wrong(`${name} must be a string`);
  }
  const [text, html] = texts.map((one) => (one === undefined ? one : (JSON.parse(one) as string)));
  const bytes = Buffer.byteLength(subject) + Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '');
  const limit = platformLimit('maxEmailBytes', bytes);
  if (bytes > limit.value) return wrong(`The e-mail is larger than ${limit.value} bytes`, limit);
  return {
    ok: true,
    value: { subject, ...(text === undefined ? {} : { text }), ...(html === undefined ? {} : { html }) },
  };
}

function wrong(message: string, limit?: ExceededLimit): Extract<Read<EmailMessage>, { ok: false }> {
  return { ok: false, message, ...(limit === undefined ? {} : { limit }) };
}
