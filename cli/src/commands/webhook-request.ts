import path from 'node:path';
import type { OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readTextFile } from '../props/read-props.ts';
import { readEvent } from './run.ts';

export const FORMAT_OPTION: OptionSpec = {
  name: 'format',
  value: 'format',
  summary:
    '`raw`: the event; `envelope`: `{ type, timestamp, data }` around it; `cloudevents`, `cloudevents-binary`: CloudEvents 1.0.',
  choices: ['raw', 'envelope', 'cloudevents', 'cloudevents-binary'],
};

export const SECRET_OPTION: OptionSpec = {
  name: 'secret',
  value: 'secret',
  summary: 'Your own: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of an Ed25519 key.',
};

export const SIGNATURE_OPTION: OptionSpec = {
  name: 'signature',
  value: 'scheme',
  summary: '`v1`: HMAC-SHA256 with the secret; `v1a`: Ed25519, of which receivers have the public key.',
  choices: ['v1', 'v1a'],
};

/** The key with which receivers verify. */
export function keyLine(of: { secret?: string | null; public_key?: string | null }): string {
  return typeof of.public_key === 'string' ? `Public key: ${of.public_key}` : `Secret: ${of.secret}`;
}

/** How requests are made and what they prove themselves with. */
export const PROOF_OPTIONS: readonly OptionSpec[] = [
  { name: 'method', value: 'method', summary: 'Default: `POST`.', choices: ['POST', 'PUT'] },
  {
    name: 'auth',
    value: 'file',
    summary:
      'JSON of what its requests prove themselves with: `{ "type": "basic" | "bearer" | "oauth2_client_credentials", … }`; `-` reads it from standard input; `none`: nothing. Stored encrypted.',
    completes: 'files',
  },
  {
    name: 'ca-certificate',
    value: 'file',
    summary: 'PEM: whom it trusts, in the place of public authorities; `none`: those.',
    completes: 'files',
  },
  {
    name: 'client-certificate',
    value: 'file',
    summary: 'PEM: its own certificate, for mTLS; `none`: it has none.',
    completes: 'files',
  },
  {
    name: 'client-key',
    value: 'file',
    summary: 'PEM: the key of that. Stored encrypted.',
    completes: 'files',
  },
];

/** Fields of the API; JSON omits the undefined ones. */
export async function authOfFlags(context: CommandContext) {
  const { input, workDir } = context;
  const pem = async (option: string) => {
    const file = input.text(option);
    if (file === undefined || file === 'none') return file === undefined ? undefined : null;
    return readTextFile(path.resolve(workDir, file));
  };
  const client_certificate = await pem('client-certificate');
  return {
    method: input.text('method'),
    auth: input.text('auth') === 'none' ? null : await readEvent(context, 'auth'),
    ca_certificate: await pem('ca-certificate'),
    client_certificate,
    // They come and go together.
    client_key: client_certificate === null ? null : await pem('client-key'),
  };
}
