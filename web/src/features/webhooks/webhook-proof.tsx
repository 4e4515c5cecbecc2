import { useState } from 'react';
import { messagesBelow, messagesFor } from '../../api/problem.ts';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { useWebhookSaving, WebhookForm, type WebhookFormProps } from './webhook-form.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

type AuthType = NonNullable<WholeWebhook['auth']>['type'];
type Fields = Record<string, string>;
type NewAuth =
  | { type: 'basic'; username: string; password: string }
  | { type: 'bearer'; token: string }
  | { type: 'oauth2_client_credentials'; token_url: string; client_id: string; client_secret: string; scope?: string };

const TYPES: readonly [type: AuthType | '', label: string][] = [
  ['', 'None'],
  ['basic', 'User name and password'],
  ['bearer', 'Bearer token'],
  ['oauth2_client_credentials', 'OAuth 2.0 client credentials'],
];

/** `isSecret`: it is never shown again, so it has to be entered with each change. */
const FIELDS: Record<AuthType, readonly { name: string; label: string; isSecret?: true; optional?: true }[]> = {
  basic: [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  bearer: [{ name: 'token', label: 'Token', isSecret: true }],
  oauth2_client_credentials: [
    { name: 'token_url', label: 'Token URL' },
    { name: 'client_id', label: 'Client id' },
    { name: 'client_secret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', optional: true },
  ],
};

/** The proof that a webhook's requests bring, whom they trust, and their method. */
export function WebhookProof(props: WebhookFormProps) {
  const { webhook } = props;
  const { type: shownType = '', ...shown } = webhook.auth ?? {};
  const [type, setType] = useState<AuthType | ''>(shownType);
  const [fields, setFields] = useState<Fields>(shown);
  const [method, setMethod] = useState(webhook.method);
  const [ca, setCa] = useState(webhook.ca_certificate ?? '');
  const [certificate, setCertificate] = useState(webhook.client_certificate ?? '');
  const [key, setKey] = useState('');
  const isSecretTyped =
    key.trim() !== '' || (type !== '' && FIELDS[type].some(({ name, isSecret }) => isSecret && fields[name]));
  const part = {
    ...props,
    partOf: proofOf,
    mine: {
      method,
      ca_certificate: ca.trim() || null,
      client_certificate: certificate.trim() || null,
      auth: type === '' ? null : { type, ...withoutSecrets(type, fields) },
      ...(isSecretTyped ? { secrets: 'new ones' } : {}),
    },
    body: () => ({
      method,
      ca_certificate: ca.trim() || null,
      ...certificateChange(webhook, certificate, key),
      ...authChange(webhook, type, fields),
    }),
  };
  const saving = useWebhookSaving(part);
  return (
    <WebhookForm {...part} title="Authentication and TLS" action="Save authentication" saving={saving}>
      <Field label="Method">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={method}
            onChange={({ target }) => setMethod(target.value as WholeWebhook['method'])}
          >
            <option value="POST">POST</option>
            <option value="PUT">PUT</option>
          </select>
        )}
      </Field>
      <Field label="Authentication" errors={messagesFor(saving.error, 'auth')}>
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={type}
            onChange={({ target }) => setType(target.value as AuthType | '')}
          >
            {TYPES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {type !== '' &&
        FIELDS[type].map(({ name, label, isSecret = false, optional = false }) => (
          <TextField
            key={name}
            label={label}
            optional={optional}
            autoComplete="off"
            type={isSecret ? 'password' : 'text'}
            {...(isSecret ? { description: 'Stored encrypted and never shown; empty: as it is.' } : {})}
            value={fields[name] ?? ''}
            onChange={({ target }) => setFields({ ...fields, [name]: target.value })}
            errors={messagesBelow(saving.error, `auth.${name}`)}
          />
        ))}
      <Pem
        label="Trusted certificates"
        description="PEM. For a receiver whose certificate is its own; in the place of public authorities."
        value={ca}
        onChange={setCa}
        errors={messagesFor(saving.error, 'ca_certificate')}
      />
      <Pem
        label="Client certificate"
        description="PEM, for receivers that ask for one (mTLS)."
        value={certificate}
        onChange={setCertificate}
        errors={messagesFor(saving.error, 'client_certificate')}
      />
      {certificate.trim() !== '' && (
        <Pem
          label="Client key"
          description="PEM. Stored encrypted and never shown; needed where the certificate changes."
          value={key}
          onChange={setKey}
          errors={messagesFor(saving.error, 'client_key')}
        />
      )}
    </WebhookForm>
  );
}

function proofOf({ method, ca_certificate: ca, client_certificate: certificate, auth }: WholeWebhook) {
  const { type, ...fields } = auth ?? {};
  return {
    method,
    ca_certificate: ca?.trim() ?? null,
    client_certificate: certificate?.trim() ?? null,
    auth: type === undefined ? null : { type, ...withoutSecrets(type, fields) },
  };
}

/** In the order of the form, to be compared. */
function withoutSecrets(type: AuthType, fields: Fields): Fields {
  const names = FIELDS[type].filter(({ isSecret = false }) => !isSecret).map(({ name }) => name);
  return Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]] as const] : [])));
}

function certificateChange(webhook: WholeWebhook, certificate: string, key: string) {
  const text = certificate.trim() || null;
  const isSame = text === (webhook.client_certificate?.trim() ?? null) && key.trim() === '';
  return isSame ? {} : { client_certificate: text, client_key: text && key.trim() };
}

/** The stored secrets are unknown here, so unchanged secrets are not sent. */
function authChange(webhook: WholeWebhook, type: AuthType | '', fields: Fields) {
  if (type === '') return webhook.auth === null ? {} : { auth: null };
  const names = FIELDS[type].filter(({ name, optional }) => !optional || (fields[name] ?? '') !== '');
  const { type: _, ...before } = webhook.auth ?? {};
  const isSame =
    type === webhook.auth?.type &&
    FIELDS[type].every(({ name, isSecret }) =>
      isSecret ? (fields[name] ?? '') === '' : (fields[name] ?? '') === ((before as Fields)[name] ?? ''),
    );
  if (isSame) return {};
  const entries = names.map(({ name }) => [name, fields[name] ?? ''] as const);
  return { auth: { type, ...Object.fromEntries(entries) } as unknown as NewAuth };
}

function Pem({
  label,
  description,
  value,
  onChange,
  errors,
}: {
  label: string;
  description: string;
  value: string;
  onChange: (text: string) => void;
  errors: readonly string[];
}) {
  return (
    <Field label={label} optional description={description} errors={errors}>
      {(ids) => (
        <textarea
          {...ids}
          rows={2}
          spellCheck={false}
          placeholder="-----BEGIN …"
          className={`${INPUT_CLASS} font-mono text-xs`}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
