import { messagesFor } from '../../api/problem.ts';
import { TextField } from '../../ui/field.tsx';

export interface ClientInput {
  clientId: string;
  /** Empty: a public client, which has none. */
  secret: string;
}

export const NO_CLIENT: ClientInput = { clientId: '', secret: '' };

/** The body with which a client is set. */
export function clientBody({ clientId, secret }: ClientInput): { client_id: string; client_secret?: string } {
  return { client_id: clientId, ...(secret === '' ? {} : { client_secret: secret }) };
}

interface ClientFieldsProps {
  value: ClientInput;
  onChange: (value: ClientInput) => void;
  error: unknown;
}

/** The fields of an OAuth client. No browser offers to keep the secret, which is no password. */
export function ClientFields({ value, onChange, error }: ClientFieldsProps) {
  return (
    <>
      <TextField
        label="Client id"
        required
        autoComplete="off"
        className="font-mono"
        value={value.clientId}
        onChange={({ target }) => onChange({ ...value, clientId: target.value })}
        errors={messagesFor(error, 'client_id')}
      />
      <TextField
        label="Client secret"
        optional
        autoComplete="off"
        className="font-mono [-webkit-text-security:disc]"
        value={value.secret}
        onChange={({ target }) => onChange({ ...value, secret: target.value })}
        errors={messagesFor(error, 'client_secret')}
      />
    </>
  );
}
