import type { Transporter } from 'nodemailer';
import { LIMITS } from '@headwater/shared';
import type { Log } from '../../../contract/index.ts';
import type { EmailMessage } from './email-message.ts';
import { again, type AttemptOutcome, final } from '../../transport.ts';

export interface MailOptions {
  /** `smtp(s)://user:password@host:port`, the operator's. */
  smtpUrl: string;
  /** `Headwater <no-reply@example.com>` */
  from: string;
}

/** Sends e-mails through the operator's mail server. */
export interface Mailer {
  isConfigured: boolean;
  /**
   * `id`: the same for repeated attempts, so that receivers can detect duplicates. Never rejects.
   */
  send(to: string, id: string, message: EmailMessage): Promise<AttemptOutcome>;
  /** Idempotent. */
  stop(): void;
}

const MAX_CONNECTIONS = 4;
const NOT_CONFIGURED =
  'This server sends no e-mail: its operator has to set HEADWATER_SMTP_URL and HEADWATER_MAIL_FROM';

/**
 * The library is loaded, and the server connected to, with the first e-mail. What the mail server
 * says is the operator's to read: tenants are told its status alone.
 */
export function createMailer({ mail, log }: { mail: MailOptions | undefined; log: Log }): Mailer {
  let opening: Promise<Transporter> | undefined;
  let opened: Transporter | undefined;

  async function open({ smtpUrl }: MailOptions): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    opened = createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      connectionTimeout: LIMITS.connectTimeoutMs,
      greetingTimeout: LIMITS.connectTimeoutMs,
      socketTimeout: LIMITS.uploadTimeoutMs,
      // A tenant's text is never a path or a URL.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return opened;
  }

  return {
    isConfigured: mail !== undefined,
    async send(to, id, { subject, text, html }) {
      if (mail === undefined) return final(NOT_CONFIGURED, { errorClass: 'internal' });
      try {
        const transport = await (opening ??= open(mail));
        await transport.sendMail({
          from: mail.from,
          to: { name: '', address: to },
          subject,
          messageId: `<${id}@headwater>`,
          headers: { 'auto-submitted': 'auto-generated' },
          ...(text === undefined ? {} : { text }),
          ...(html === undefined ? {} : { html }),
        });
        return { kind: 'delivered' };
      } catch (err) {
        log.warn({ err, send: id }, 'an e-mail was not sent');
        return failed(err);
      }
    },
    stop: () => opened?.close(),
  };
}

/** A status of the 5xx is the server's last word, except about this server's own login. */
function failed(error: unknown): AttemptOutcome {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  if (typeof responseCode !== 'number')
    return again('The mail server of this server could not be reached', { errorClass: 'connection' });
  const outcome = {
    statusCode: responseCode,
    error: `The mail server refused the e-mail with the status ${responseCode}`,
    errorClass: 'refused' as const,
  };
  const isFinal = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return { kind: isFinal ? 'final' : 'again', ...outcome };
}
