import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { eventually } from './eventually.ts';

interface ReceivedMail {
  from: string;
  to: string[];
  /** Header lines and body as they came. */
  text: string;
}

export interface MailServer {
  /** `smtp://user:password@127.0.0.1:<port>` */
  url: string;
  mails: ReceivedMail[];
  /** Answers the next messages with these statuses instead of taking them. */
  refuse(...statuses: number[]): void;
  until(count: number): Promise<ReceivedMail[]>;
  stop(): Promise<void>;
}

/**
 * Links with a token that begins with `kind`, mailed to this address, once there are so many. The
 * last one is the newest.
 */
export async function linksTo({ mails }: MailServer, email: string, kind: string, count = 1): Promise<string[]> {
  const link = new RegExp(`http:\\S+#token=${kind}\\w+`);
  // Long lines are folded in quoted-printable.
  const textOf = (text: string) => text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  const links = () =>
    mails.filter(({ to }) => to.includes(email)).flatMap(({ text }) => link.exec(textOf(text))?.[0] ?? []);
  return eventually(() => links().length >= count && links(), { what: `${count} links in mails to ${email}` });
}

/** An SMTP server on loopback that requires a login and keeps its mails. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refusals: number[] = [];
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, callback) {
      if (username === 'user' && password === 'mail-password') callback(null, { user: username });
      else callback(new Error('wrong login'));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const status = refusals.shift();
        if (status !== undefined) {
          callback(Object.assign(new Error('not from mail.inside.example'), { responseCode: status }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString('utf8') });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://user:mail-password@127.0.0.1:${port}`,
    mails,
    refuse: (...statuses) => void refusals.push(...statuses),
    until: (count) => eventually(() => mails.length >= count && mails, { what: `${count} mails` }),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
